package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException.CallFailed.Rejected;
import io.eventbus.client.Invocation;
import io.eventbus.client.StreamHandler;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelHandler;
import io.eventbus.client.TunnelOffer;
import io.eventbus.client.TunnelOptions;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.FailureCode;
import java.util.ArrayList;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Streams and tunnels of one service of this client: those that callers ask for, and those that are
 * open. Any thread may use it. The bus bounds how many come at once, by the service's concurrency
 * until they are accepted.
 */
public final class TunnelService {
  private final String name;
  private final CallHost host;
  private final Tunnels tunnels;
  private final Map<ReceivedInvocation.Target, Offer> offers = new ConcurrentHashMap<>();
  private final Set<OpenTunnel> open = ConcurrentHashMap.newKeySet();
  private volatile @Nullable TunnelHandler tunnelHandler;
  private volatile @Nullable StreamHandler streamHandler;
  private volatile TunnelOptions options = TunnelOptions.DEFAULT;
  private volatile @Nullable Runnable whenIdle;

  TunnelService(String name, CallHost host, Tunnels tunnels) {
    this.name = name;
    this.host = host;
    this.tunnels = tunnels;
  }

  /** Accepts tunnels from now on. */
  public void onTunnel(TunnelOptions how, TunnelHandler handler) {
    options = how;
    tunnelHandler = handler;
  }

  /** Answers with streams from now on. */
  public void onStream(StreamHandler handler) {
    streamHandler = handler;
  }

  /**
   * Takes a call for a stream or tunnel, on the connection's thread; returns false if none is
   * accepted.
   */
  boolean arrive(ReceivedInvocation invocation, CallKind kind, long limit) {
    TunnelHandler ofTunnels = kind == CallKind.TUNNEL ? tunnelHandler : null;
    StreamHandler ofStreams = kind == CallKind.STREAM ? streamHandler : null;
    if (ofTunnels == null && ofStreams == null) {
      return false;
    }
    Offer offer = new Offer(invocation, limit);
    offers.put(invocation.first(), offer);
    Runnable task =
        ofTunnels != null
            ? () -> run(offer, () -> ofTunnels.onTunnel(offer))
            : () -> run(offer, () -> stream(offer, java.util.Objects.requireNonNull(ofStreams)));
    try {
      host.handle(task);
    } catch (RuntimeException e) {
      offer.refuse(Rejected.refused("the member has no thread for it", java.time.Duration.ZERO));
    }
    return true;
  }

  /** Work of a handler. */
  private interface Work {
    void run() throws Exception;
  }

  private void run(Offer offer, Work work) {
    if (offer.invocation.isExpired(host.nanoTime())) {
      offer.refuse(CallFailures.of(FailureCode.TIMEOUT, "its time was over", EXECUTED_NO));
      return;
    }
    try {
      work.run();
      offer.refuse(Rejected.refused("the member did not accept it", java.time.Duration.ZERO));
    } catch (Rejected e) {
      offer.refuse(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      offer.failed(e);
    } catch (Throwable e) {
      // Also an Error: a caller that waits in vain would be worse.
      offer.failed(e);
    }
  }

  private static final io.eventbus.client.Execution EXECUTED_NO = io.eventbus.client.Execution.NO;

  private void stream(Offer offer, StreamHandler handler) throws Exception {
    Flow.Publisher<Event> events = handler.onStream(offer.invocation);
    if (events == null) {
      throw new NullPointerException("the handler returned null (expected: a publisher)");
    }
    OpenTunnel tunnel = offer.open(Event.of(new byte[0]), 0);
    tunnel.disableInput();
    events.subscribe(new StreamAnswer(host, tunnel, offer.invocation));
  }

  /** Returns the rejection that callers see for an unintended exception: without its message. */
  static Rejected failed(Throwable thrown) {
    return Rejected.failed(
        "", "the member's handler failed with " + thrown.getClass().getName(), new byte[0]);
  }

  /** Cancels one that nobody waits for any more; returns false if it is not of this service. */
  boolean cancel(ReceivedInvocation.Target target) {
    Offer offer = offers.get(target);
    if (offer == null) {
      return false;
    }
    offer.invocation.cancelOne();
    return true;
  }

  void lost(CallPath path) {
    offers.keySet().removeIf(target -> target.path() == path);
    tellIdle();
  }

  boolean isQuiet(CallPath path) {
    return offers.keySet().stream().noneMatch(target -> target.path() == path);
  }

  /**
   * Stops taking calls.
   *
   * @param then is run once, in any thread, when those that are here have ended; must not block
   */
  public void end(Runnable then) {
    whenIdle = then;
    tellIdle();
  }

  private void tellIdle() {
    Runnable idle = null;
    synchronized (this) {
      if (offers.isEmpty() && open.isEmpty()) {
        idle = whenIdle;
        whenIdle = null;
      }
    }
    if (idle != null) {
      idle.run();
    }
  }

  /** Gives up the present streams and tunnels. */
  public void abandon() {
    new ArrayList<>(open).forEach(OpenTunnel::close);
  }

  /** Call for a stream or tunnel. */
  private final class Offer implements TunnelOffer {
    private final ReceivedInvocation invocation;
    private final long limit;
    private final long began;
    private @Nullable OpenTunnel accepted;

    Offer(ReceivedInvocation invocation, long limit) {
      this.invocation = invocation;
      this.limit = limit;
      this.began = host.nanoTime();
    }

    @Override
    public Invocation invocation() {
      return invocation;
    }

    @Override
    public Tunnel accept(Event answer) {
      return open(answer, options.windowBytes());
    }

    // Removed in whatever way it ends.
    @SuppressWarnings("FutureReturnValueIgnored")
    OpenTunnel open(Event answer, long takes) {
      Body body = host.encode(answer);
      ReceivedInvocation.Target target = invocation.first();
      OpenTunnel tunnel =
          new OpenTunnel(host, tunnels, target, name, invocation.event(), options, limit);
      synchronized (this) {
        if (accepted != null) {
          throw new IllegalStateException("accepted already (expected: once)");
        }
        accepted = tunnel;
      }
      open.add(tunnel);
      tunnel
          .closed()
          .whenComplete(
              (ok, failure) -> {
                open.remove(tunnel);
                tellIdle();
              });
      invocation.answer();
      if (offers.remove(target) == null) {
        tunnel.fail(
            new io.eventbus.client.EventBusException.CallFailed.BusLost(
                "the connection with the caller of " + name + " was lost"));
        return tunnel;
      }
      tunnels.add(tunnel);
      long micros = TimeUnit.NANOSECONDS.toMicros(host.nanoTime() - began);
      host.send(
          new AcceptFrame(
              target.path(), target.call(), (int) Math.min(Integer.MAX_VALUE, micros), takes, body),
          true);
      return tunnel;
    }

    /** Refuses it, unless it was accepted. */
    void refuse(Rejected why) {
      refuse(CallFailures.of(why), why);
    }

    void refuse(io.eventbus.schema.Failure failure) {
      refuse(failure, null);
    }

    private void refuse(io.eventbus.schema.Failure failure, @Nullable Rejected why) {
      OpenTunnel tunnel;
      synchronized (this) {
        tunnel = accepted;
      }
      if (tunnel != null) {
        if (why != null && why.reason() == Rejected.Reason.FAILED) {
          tunnel.end(why, failure);
        }
        return;
      }
      invocation.answer();
      ReceivedInvocation.Target target = invocation.first();
      if (offers.remove(target) != null) {
        host.send(CallFailures.frame(target.path(), target.call(), failure), true);
      }
      tellIdle();
    }

    void failed(Throwable thrown) {
      host.handlerFailed(invocation, thrown);
      refuse(TunnelService.failed(thrown));
    }
  }
}

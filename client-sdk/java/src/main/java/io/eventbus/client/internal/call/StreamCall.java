package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Response;
import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.FrameLimits;
import io.eventbus.protocol.ItemView;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Stream that this client asks for, on behalf of one subscriber: demand from before a member has
 * accepted it is passed on then.
 */
final class StreamCall implements CallResult, Flow.Subscription {
  private final CallHost host;
  private final Tunnels tunnels;
  private final String service;
  private final TunnelOptions options;
  private final Flow.Subscriber<? super Response> target;
  private final AtomicLong demand = new AtomicLong();
  private final AtomicBoolean done = new AtomicBoolean();
  private volatile Runnable abandon = () -> {};
  private volatile boolean cancelled;
  private volatile Flow.@Nullable Subscription messages;

  StreamCall(
      CallHost host,
      Tunnels tunnels,
      String service,
      TunnelOptions options,
      Flow.Subscriber<? super Response> target) {
    this.host = host;
    this.tunnels = tunnels;
    this.service = service;
    this.options = options;
    this.target = target;
  }

  /** Sets the task that gives it up, once it is under way. */
  void begun(Runnable onAbandon) {
    abandon = onAbandon;
    if (cancelled) {
      onAbandon.run();
    }
  }

  @Override
  public void accept(long call, CallPath over, Response response, long limit) {
    OpenTunnel tunnel =
        new OpenTunnel(
            host,
            tunnels,
            new ReceivedInvocation.Target(over, call),
            service,
            response.event(),
            options,
            0);
    tunnel.disableOutput();
    tunnels.add(tunnel);
    host.complete(() -> tunnel.messages().subscribe(new Items(response)));
  }

  @Override
  public void succeed(Response response) {
    throw new IllegalStateException("a stream with one reply (expected: accept)");
  }

  @Override
  public void fail(EventBusException failure) {
    notBegun(failure);
  }

  /** Fails the stream, because the request could not be made. */
  void notBegun(RuntimeException failure) {
    host.fail(() -> end(failure));
  }

  private void end(@Nullable Throwable why) {
    if (cancelled || !done.compareAndSet(false, true)) {
      return;
    }
    if (why == null) {
      target.onComplete();
    } else {
      target.onError(why);
    }
  }

  @Override
  public void request(long n) {
    Flow.Subscription open;
    synchronized (this) {
      open = messages;
      if (open == null) {
        if (n > 0) {
          demand.accumulateAndGet(n, (a, b) -> a + b < 0 ? Long.MAX_VALUE : a + b);
          return;
        }
      }
    }
    if (open != null) {
      open.request(n);
    } else {
      host.fail(
          () -> end(new IllegalArgumentException("request: " + n + " (expected: >= 1, rule 3.9)")));
      abandon.run();
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    Flow.Subscription open;
    synchronized (this) {
      open = messages;
    }
    if (open != null) {
      open.cancel();
    } else {
      abandon.run();
    }
  }

  /** Messages of the stream, each of which is an event. */
  private final class Items implements Flow.Subscriber<byte[]> {
    private final Response accepted;
    private final ItemView view = new ItemView();

    Items(Response accepted) {
      this.accepted = accepted;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      synchronized (StreamCall.this) {
        messages = subscription;
      }
      long asked = demand.get();
      if (cancelled) {
        subscription.cancel();
      } else if (asked > 0) {
        subscription.request(asked);
      }
    }

    @Override
    public void onNext(byte[] message) {
      view.read(ByteBuffer.wrap(message), 0, message.length, FrameLimits.UNLIMITED);
      Event event = Events.of(view.event(), view.schema());
      target.onNext(new Response(event, accepted.member(), accepted.queued(), accepted.handled()));
    }

    @Override
    public void onError(Throwable failure) {
      end(failure);
    }

    @Override
    public void onComplete() {
      end(null);
    }
  }
}

package io.eventbus.client.internal.call;

import io.eventbus.client.CallInterceptor;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.schema.FailureCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Requests to one service of this client: those that wait, and those that its handler works on. Any
 * thread may use it.
 *
 * <p>A request occupies a slot from the call of the handler until its stage is complete; there are
 * as many slots as the service has concurrency, whichever connections the requests come over.
 * Requests without a slot wait, bounded in bytes. Nothing foreign is called under its lock.
 */
public final class ServiceRunner {
  /** Number of requests that a task answers in a row, while their handlers return answers. */
  private static final int MAX_REQUESTS_PER_RUN = 64;

  private final String name;
  private final ServiceOptions options;
  private final RequestHandler handler;
  private final CallHost host;
  private final OpenInvocations open;
  private final TunnelService tunnels;

  // Guarded by this object.
  private final Set<ReceivedInvocation> waiting = new LinkedHashSet<>();
  private final Map<ReceivedInvocation.Key, ReceivedInvocation> known = new HashMap<>();
  private final RememberedReplies remembered;
  private long waitingBytes;
  private int running;
  private @Nullable Runnable whenIdle;
  private long received;
  private long answered;
  private long failed;
  private long expired;
  private long cancelled;
  private long refused;
  private long repeated;

  ServiceRunner(
      String name,
      ServiceOptions options,
      RequestHandler handler,
      List<CallInterceptor> interceptors,
      CallHost host,
      OpenInvocations open,
      TunnelService tunnels) {
    this.tunnels = tunnels;
    this.name = name;
    this.options = options;
    this.handler = intercepted(handler, interceptors);
    this.host = host;
    this.open = open;
    this.remembered = new RememberedReplies(options.rememberReplies(), options.bufferBytes());
  }

  private static RequestHandler intercepted(
      RequestHandler handler, List<CallInterceptor> interceptors) {
    RequestHandler all = handler;
    for (int i = interceptors.size() - 1; i >= 0; i--) {
      CallInterceptor interceptor = interceptors.get(i);
      RequestHandler inner = all;
      all = invocation -> interceptor.aroundHandler(invocation, inner);
    }
    return all;
  }

  String name() {
    return name;
  }

  /** Returns the streams and tunnels of the service. */
  public TunnelService tunnels() {
    return tunnels;
  }

  // ---- Arrivals

  /** Takes a request; on the connection's thread. */
  void arrive(ReceivedInvocation invocation) {
    ReceivedInvocation.Target target = invocation.first();
    RememberedReplies.Remembered old;
    boolean begins = false;
    synchronized (this) {
      received++;
      ReceivedInvocation same = known.get(invocation.key);
      if (same != null && same.join(target)) {
        repeated++;
        open.add(target, same, this);
        return;
      }
      old = remembered.get(invocation.key);
      if (old != null) {
        repeated++;
      } else if (!waiting.isEmpty() && waitingBytes + invocation.bytes > options.bufferBytes()) {
        refused++;
      } else {
        open.add(target, invocation, this);
        known.put(invocation.key, invocation);
        begins = running < options.concurrency() && host.hasRoom();
        if (begins) {
          running++;
        } else {
          waiting.add(invocation);
          waitingBytes += invocation.bytes;
        }
        if (!begins) {
          return;
        }
      }
    }
    if (begins) {
      start(invocation);
    } else if (old != null) {
      host.send(new CallAnswer(old.body(), old.handledMicros(), null).frame(target), false);
    } else {
      String message =
          "the requests that wait in the member take " + options.bufferBytes() + " bytes already";
      host.send(CallAnswer.notBegun(FailureCode.OVERLOADED, message).frame(target), false);
    }
  }

  /** Cancels one of the answers of a request, whose caller does not wait any more. */
  void cancel(ReceivedInvocation invocation) {
    if (!invocation.cancelOne()) {
      return;
    }
    synchronized (this) {
      cancelled++;
      if (!waiting.remove(invocation)) {
        // Its slot is free when the handler is done with it.
        return;
      }
      waitingBytes -= invocation.bytes;
    }
    answer(
        invocation,
        CallAnswer.notBegun(FailureCode.CANCELLED, "cancelled before it was begun with"),
        false);
    tellIdle();
  }

  // ---- Handling

  private void start(ReceivedInvocation invocation) {
    ReceivedInvocation next = invocation;
    while (next != null) {
      ReceivedInvocation begun = next;
      try {
        host.handle(() -> run(begun));
        return;
      } catch (RuntimeException e) {
        synchronized (this) {
          refused++;
        }
        host.problem(
            new EventBusException.Closed(
                "the executor refuses to run the handler of " + name + ": its requests are refused",
                e));
        answer(
            begun,
            CallAnswer.notBegun(FailureCode.OVERLOADED, "the member has no thread for it"),
            false);
        next = next();
      }
    }
  }

  /** Releases a slot and acquires it for the next request; null if there is none. */
  private @Nullable ReceivedInvocation next() {
    ReceivedInvocation next = null;
    synchronized (this) {
      Iterator<ReceivedInvocation> first = waiting.iterator();
      if (first.hasNext() && host.hasRoom()) {
        next = first.next();
        first.remove();
        waitingBytes -= next.bytes;
      } else {
        running--;
      }
    }
    if (next == null) {
      tellIdle();
    }
    return next;
  }

  /** Resumes, because answers can be sent again. */
  void hasRoom() {
    while (true) {
      ReceivedInvocation next;
      synchronized (this) {
        if (running >= options.concurrency() || waiting.isEmpty() || !host.hasRoom()) {
          return;
        }
        // As if a slot were released.
        running++;
      }
      next = next();
      if (next == null) {
        return;
      }
      start(next);
    }
  }

  private void run(ReceivedInvocation first) {
    ReceivedInvocation invocation = first;
    for (int i = 1; invocation != null; i++) {
      if (!handle(invocation)) {
        // The thread that completes the stage goes on.
        return;
      }
      invocation = next();
      if (invocation != null && i == MAX_REQUESTS_PER_RUN) {
        start(invocation);
        return;
      }
    }
  }

  /** Calls the handler for a request; returns whether it is answered. */
  private boolean handle(ReceivedInvocation invocation) {
    long begun = host.nanoTime();
    if (invocation.isExpired(begun)) {
      synchronized (this) {
        expired++;
      }
      answer(
          invocation,
          CallAnswer.notBegun(FailureCode.TIMEOUT, "its time was over before it was begun with"),
          true);
      return true;
    }
    if (invocation.isCancelled()) {
      answer(
          invocation,
          CallAnswer.notBegun(FailureCode.CANCELLED, "cancelled before it was begun with"),
          true);
      return true;
    }
    if (!open.hasAny(invocation.targets())) {
      // The connections that it came over are lost, and with them all its callers.
      synchronized (this) {
        cancelled++;
      }
      answer(
          invocation, CallAnswer.notBegun(FailureCode.CANCELLED, "its connection is lost"), true);
      return true;
    }
    invocation.begin();
    CompletionStage<Event> stage;
    try {
      stage = handler.onRequest(invocation);
      if (stage == null) {
        throw new NullPointerException("the handler returned null (expected: a stage)");
      }
      stage.whenComplete((event, failure) -> handled(invocation, begun, event, failure));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      handled(invocation, begun, null, e);
    } catch (Throwable e) {
      // Also an Error: a caller that waits in vain would be worse.
      handled(invocation, begun, null, e);
    }
    return invocation.end();
  }

  private void handled(
      ReceivedInvocation invocation,
      long begun,
      @Nullable Event event,
      @Nullable Throwable failure) {
    if (!invocation.isFirstEnd()) {
      return;
    }
    boolean inCall = invocation.isInCall();
    answer(invocation, CallAnswer.of(host, invocation, begun, event, failure), true);
    if (!inCall) {
      ReceivedInvocation next = next();
      if (next != null) {
        start(next);
      }
    }
  }

  private void answer(ReceivedInvocation invocation, CallAnswer answer, boolean here) {
    List<ReceivedInvocation.Target> targets;
    Body body = answer.body();
    synchronized (this) {
      targets = invocation.answer();
      known.remove(invocation.key, invocation);
      if (body != null) {
        answered++;
        remembered.add(invocation.key, answer.handledMicros(), body);
      } else if (answer.isExecutedFailure()) {
        failed++;
      }
    }
    for (ReceivedInvocation.Target target : targets) {
      if (open.remove(target)) {
        host.send(answer.frame(target), here);
      }
    }
  }

  // ---- The end

  /**
   * Stops taking requests.
   *
   * @param then is run once, in any thread, when those that are here are answered; must not block
   */
  public void end(Runnable then) {
    synchronized (this) {
      whenIdle = then;
    }
    tellIdle();
  }

  private void tellIdle() {
    Runnable idle = null;
    synchronized (this) {
      if (running == 0 && waiting.isEmpty()) {
        idle = whenIdle;
        whenIdle = null;
      }
    }
    if (idle != null) {
      idle.run();
    }
  }

  /** Gives up the present requests. */
  public void abandon() {
    List<ReceivedInvocation> unbegun;
    List<ReceivedInvocation> all;
    synchronized (this) {
      unbegun = new ArrayList<>(waiting);
      waiting.clear();
      waitingBytes = 0;
      all = new ArrayList<>(known.values());
    }
    unbegun.forEach(
        invocation ->
            answer(
                invocation,
                CallAnswer.notBegun(FailureCode.REFUSED, "the member has ended"),
                false));
    all.removeAll(unbegun);
    all.forEach(ReceivedInvocation::cancelAll);
  }

  /**
   * Returns whether this thread is in a call of the handler: it cannot wait for the end of that.
   */
  public boolean isHandledByThisThread() {
    List<ReceivedInvocation> all;
    synchronized (this) {
      all = List.copyOf(known.values());
    }
    return all.stream().anyMatch(ReceivedInvocation::isCalledByThisThread);
  }

  /** Returns the counts so far. */
  public synchronized Service.Stats stats() {
    return new Service.Stats(
        received,
        answered,
        failed,
        expired,
        cancelled,
        refused,
        repeated,
        running,
        waiting.size(),
        waitingBytes);
  }
}

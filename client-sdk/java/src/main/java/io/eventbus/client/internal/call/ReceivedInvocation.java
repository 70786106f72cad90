package io.eventbus.client.internal.call;

import io.eventbus.client.Event;
import io.eventbus.client.Invocation;
import io.eventbus.protocol.InvokeView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Request that this client is to answer. Fields that are not final are guarded by its own lock,
 * which is held for moments and under which nothing else is called.
 */
final class ReceivedInvocation implements Invocation {
  /** Bytes that it takes in memory beside its event. */
  private static final int OVERHEAD = 512;

  /**
   * Identity of a request, the same when it comes again. Comparable, because callers choose
   * numbers.
   */
  record Key(long caller, long request) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int order = Long.compare(request, other.request);
      return order != 0 ? order : Long.compare(caller, other.caller);
    }
  }

  /** Destination of an answer: a call of a connection. */
  record Target(CallPath path, long call) {}

  final Key key;
  final int bytes;
  private final CallHost host;
  private final Event event;
  private final String service;
  private final String method;
  private final String identity;
  private final int attempt;
  private final long deadline;
  // More than one if the request came again meanwhile.
  private final List<Target> targets = new ArrayList<>(1);
  private int cancelledTargets;
  private boolean cancelled;
  private boolean answered;
  private @Nullable List<Runnable> onCancel;
  // The thread that is calling the handler, and whether the answer came in that call.
  private volatile @Nullable Thread calling;
  private boolean answeredInCall;
  private final AtomicBoolean ended = new AtomicBoolean();

  ReceivedInvocation(CallHost host, String service, InvokeView view, CallPath path) {
    this.host = host;
    this.service = service;
    this.event = Events.of(view.event(), view.schema());
    this.method = view.method();
    this.identity = view.identity();
    this.attempt = view.attempt();
    this.key = new Key(view.caller(), view.request());
    this.deadline = host.nanoTime() + TimeUnit.MILLISECONDS.toNanos(view.timeoutMillis());
    this.bytes = view.eventLength() + OVERHEAD;
    targets.add(new Target(path, view.call()));
  }

  // ---- For the runner

  Target first() {
    synchronized (targets) {
      return targets.get(0);
    }
  }

  List<Target> targets() {
    synchronized (targets) {
      return List.copyOf(targets);
    }
  }

  /**
   * Adds a target, because the request has come again; returns whether its answer will go there,
   * too.
   */
  boolean join(Target target) {
    synchronized (targets) {
      if (answered || cancelled) {
        return false;
      }
      targets.add(target);
      return true;
    }
  }

  /** Marks it as answered; returns the targets of the answer. */
  List<Target> answer() {
    synchronized (targets) {
      answered = true;
      onCancel = null;
      return List.copyOf(targets);
    }
  }

  /** Cancels one of the targets, whose caller does not wait any more. */
  boolean cancelOne() {
    List<Runnable> tasks;
    synchronized (targets) {
      if (answered || cancelled || ++cancelledTargets < targets.size()) {
        return false;
      }
      cancelled = true;
      tasks = onCancel;
      onCancel = null;
    }
    if (tasks != null) {
      tasks.forEach(this::run);
    }
    return true;
  }

  /** Tells the handler that the request is cancelled, because the service has ended. */
  void cancelAll() {
    synchronized (targets) {
      cancelledTargets = Math.max(cancelledTargets, targets.size() - 1);
    }
    cancelOne();
  }

  private void run(Runnable task) {
    try {
      host.handle(task);
    } catch (RuntimeException e) {
      // The application's executor accepts nothing: the handler is told by isCancelled.
      host.handlerFailed(this, e);
    }
  }

  boolean isExpired(long now) {
    return deadline - now <= 0;
  }

  /** Marks the start of the handler's call by this thread. */
  void begin() {
    answeredInCall = false;
    calling = Thread.currentThread();
  }

  /** Marks the end of the handler; returns whether that was not reported before. */
  boolean isFirstEnd() {
    return ended.compareAndSet(false, true);
  }

  boolean isCalledByThisThread() {
    return calling == Thread.currentThread();
  }

  /** Marks the answer; returns whether it came in the call of the handler. */
  boolean isInCall() {
    if (calling == Thread.currentThread()) {
      answeredInCall = true;
      return true;
    }
    return false;
  }

  /** Marks the return of the handler; returns whether the answer came in the call. */
  boolean end() {
    calling = null;
    return answeredInCall;
  }

  // ---- For the application

  @Override
  public Event event() {
    return event;
  }

  @Override
  public String service() {
    return service;
  }

  @Override
  public String method() {
    return method;
  }

  @Override
  public long caller() {
    return key.caller();
  }

  @Override
  public long request() {
    return key.request();
  }

  @Override
  public String identity() {
    return identity;
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public Duration remaining() {
    return Duration.ofNanos(Math.max(0, deadline - host.nanoTime()));
  }

  @Override
  public boolean isCancelled() {
    synchronized (targets) {
      return cancelled;
    }
  }

  @Override
  public void onCancel(Runnable task) {
    synchronized (targets) {
      if (answered) {
        return;
      }
      if (!cancelled) {
        List<Runnable> tasks = onCancel;
        if (tasks == null) {
          tasks = new ArrayList<>(1);
          onCancel = tasks;
        }
        tasks.add(task);
        return;
      }
    }
    run(task);
  }

  @Override
  public String toString() {
    return "Invocation[" + service + " " + method + ", " + key + ", attempt=" + attempt + "]";
  }
}

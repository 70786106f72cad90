package io.eventbus.client.internal.call;

import io.eventbus.client.CallInterceptor;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Execution;
import io.eventbus.client.RequestHandler;
import io.eventbus.client.Response;
import io.eventbus.client.ServiceOptions;
import io.eventbus.client.Tunnel;
import io.eventbus.client.TunnelOptions;
import io.eventbus.protocol.InvokeView;
import io.eventbus.schema.CallKind;
import io.eventbus.schema.FailureCode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

/**
 * Calls of one client, at both ends: the requests that it makes, and those to its services. Any
 * thread may use it.
 */
public final class CallTable {
  /** Interval of checks whether calls have ended on a connection that is being left. */
  public static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final CallHost host;
  private final List<CallInterceptor> interceptors;
  private final PendingCalls pending;
  private final OpenInvocations open = new OpenInvocations();
  private final Map<Long, ServiceRunner> services = new ConcurrentHashMap<>();
  private final Tunnels tunnels = new Tunnels();

  /**
   * Creates the table.
   *
   * @param maxBytes maximum size of requests that are not sent, or may be sent again
   */
  public CallTable(CallHost host, List<CallInterceptor> interceptors, int maxBytes) {
    this.host = host;
    this.interceptors = interceptors;
    this.pending = new PendingCalls(host, interceptors, maxBytes);
  }

  /** Returns the requests that this client makes. */
  public PendingCalls pending() {
    return pending;
  }

  /** Asks for a tunnel; see {@link io.eventbus.client.ServiceClient#tunnel}. */
  public CompletableFuture<Tunnel> tunnel(String service, Event event, TunnelOptions options) {
    return pending.tunnel(service, event, options, tunnels);
  }

  /** Asks for streams; see {@link io.eventbus.client.ServiceClient#requestStream}. */
  public Flow.Publisher<Response> stream(String service, Event event, TunnelOptions options) {
    return pending.stream(service, event, options, tunnels);
  }

  Tunnels tunnels() {
    return tunnels;
  }

  /** Serves the requests that come for a service from now on. */
  public ServiceRunner serve(long id, String name, ServiceOptions options, RequestHandler handler) {
    ServiceRunner runner =
        new ServiceRunner(
            name,
            options,
            handler,
            interceptors,
            host,
            open,
            new TunnelService(name, host, tunnels));
    services.put(id, runner);
    return runner;
  }

  /** Removes a service, for which no more requests come. */
  public void forget(long id) {
    services.remove(id);
  }

  void invoked(InvokeView view, CallPath path) {
    ServiceRunner runner = services.get(view.service());
    if (runner != null && view.kind() == CallKind.REPLY) {
      runner.arrive(new ReceivedInvocation(host, runner.name(), view, path));
      return;
    }
    CallKind kind = view.kind();
    if (runner != null && kind != null && kind != CallKind.REPLY) {
      ReceivedInvocation invocation = new ReceivedInvocation(host, runner.name(), view, path);
      if (runner.tunnels().arrive(invocation, kind, view.limit())) {
        return;
      }
    }
    host.send(
        CallFailures.frame(
            path,
            view.call(),
            runner == null
                ? CallFailures.of(FailureCode.REFUSED, "the member has ended", Execution.NO)
                : CallFailures.of(
                    FailureCode.UNSUPPORTED,
                    "the member serves no calls of this kind",
                    Execution.NO)),
        false);
  }

  void cancelled(long call, String reason, CallPath path) {
    open.cancel(path, call);
    tunnels.cancelled(call, reason, path);
    ReceivedInvocation.Target target = new ReceivedInvocation.Target(path, call);
    for (ServiceRunner runner : services.values()) {
      if (runner.tunnels().cancel(target)) {
        return;
      }
    }
  }

  /** Resumes handlers, because replies can be added again to those that wait to be sent. */
  public void hasRoom() {
    services.values().forEach(ServiceRunner::hasRoom);
  }

  // ---- Connections

  /**
   * Ends the calls of a connection that is lost or given up: frames that still come over it are
   * ignored.
   */
  public void lost(CallPath path) {
    open.lost(path);
    tunnels.lost(path);
    services.values().forEach(runner -> runner.tunnels().lost(path));
    pending.lost(path);
  }

  /**
   * Waits for the calls under way on a connection.
   *
   * @param until end of the wait, in nanoseconds of the clock
   * @param then is run once: at once if there are none, else on the conductor
   */
  public void whenQuiet(CallPath path, long until, Runnable then) {
    if (until - host.nanoTime() <= 0 || isQuiet(path)) {
      then.run();
    } else {
      // The end of each call could be reported, at a price for every call.
      host.schedule(() -> whenQuiet(path, until, then), LOOK_NANOS);
    }
  }

  private boolean isQuiet(CallPath path) {
    return open.isQuiet(path)
        && pending.isQuiet(path)
        && tunnels.isQuiet(path)
        && services.values().stream().allMatch(runner -> runner.tunnels().isQuiet(path));
  }

  /** Ends all requests and services with the client. */
  public void close(EventBusException why) {
    pending.close(why);
    tunnels.close(why);
    services.values().forEach(ServiceRunner::abandon);
    services.clear();
  }
}

package io.eventbus.client.internal.call;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Calls that connections wait for an answer to. Any thread may use it. */
final class OpenInvocations {
  /** Call with the runner that answers it. */
  private record Open(ReceivedInvocation invocation, ServiceRunner runner) {}

  private final Map<ReceivedInvocation.Target, Open> calls = new ConcurrentHashMap<>();

  void add(ReceivedInvocation.Target target, ReceivedInvocation invocation, ServiceRunner runner) {
    calls.put(target, new Open(invocation, runner));
  }

  /** Returns whether a connection still waits for one of the answers. */
  boolean hasAny(List<ReceivedInvocation.Target> targets) {
    return targets.stream().anyMatch(calls::containsKey);
  }

  /** Removes a call that is answered; returns whether its connection still waits for that. */
  boolean remove(ReceivedInvocation.Target target) {
    return calls.remove(target) != null;
  }

  /** Cancels a call that nobody waits for any more. */
  void cancel(CallPath path, long call) {
    @Nullable Open open = calls.get(new ReceivedInvocation.Target(path, call));
    if (open != null) {
      open.runner().cancel(open.invocation());
    }
  }

  /** Removes the calls of a lost connection, which need no answers. The handlers go on. */
  void lost(CallPath path) {
    calls.keySet().removeIf(target -> target.path() == path);
  }

  boolean isQuiet(CallPath path) {
    return calls.keySet().stream().noneMatch(target -> target.path() == path);
  }
}

package io.eventbus.cli.console;

import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handler of SIGHUP, which tells a service to read its files again. Through reflection, because the
 * JDK has no other access to signals than a class that the compiler warns of, and not every JDK has
 * it.
 */
public final class HangUp {
  private static final Logger LOG = LoggerFactory.getLogger(HangUp.class);

  private HangUp() {}

  /**
   * Runs a task at each SIGHUP, which then no longer ends the process. Does nothing if the JVM has
   * no such signal.
   *
   * @param task run on a thread of the JVM's; not twice at a time
   */
  public static boolean handle(Runnable task) {
    AtomicInteger signals = new AtomicInteger();
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (self, method, arguments) -> {
                if (method.getName().equals("handle")) {
                  run(task, signals);
                  return null;
                }
                return switch (method.getName()) {
                  case "hashCode" -> System.identityHashCode(self);
                  case "equals" -> self == arguments[0];
                  default -> "HangUp";
                };
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), proxy);
      return true;
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      LOG.debug("SIGHUP cannot be handled: {}", e.toString());
      return false;
    }
  }

  /**
   * Runs the task. The JVM starts a thread for each signal; signals that come meanwhile count as
   * one more.
   */
  private static void run(Runnable task, AtomicInteger signals) {
    if (signals.getAndIncrement() > 0) {
      return;
    }
    int seen;
    do {
      seen = signals.get();
      task.run();
    } while (!signals.compareAndSet(seen, 0));
  }
}

package io.eventbus.registry.ratis;

import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Objects of the engine's interfaces that answer what a test says. */
final class Fake {
  /** What a fake says to a call. */
  interface Answers {
    @Nullable Object to(String method, Object[] arguments) throws Throwable;
  }

  private Fake() {}

  static <T> T fake(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answers.to(method.getName(), arguments)));
  }

  static AssertionError unexpected(String method) {
    return new AssertionError("an unexpected call: " + method);
  }
}

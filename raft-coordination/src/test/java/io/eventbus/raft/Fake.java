package io.eventbus.raft;

import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Objects of interfaces that answer what a test says. */
public final class Fake {
  /** Answers of a fake to calls. */
  public interface Answers {
    @Nullable Object to(String method, Object[] arguments) throws Throwable;
  }

  private Fake() {}

  public static <T> T fake(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answers.to(method.getName(), arguments)));
  }

  public static AssertionError unexpected(String method) {
    return new AssertionError("an unexpected call: " + method);
  }
}

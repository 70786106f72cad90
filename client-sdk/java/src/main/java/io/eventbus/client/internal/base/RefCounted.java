package io.eventbus.client.internal.base;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Object that all clients of a JVM use together, created for the first of them and ended with the
 * last. Any thread may use it.
 *
 * @param <T> type of the shared object
 */
public final class RefCounted<T> {
  private final Supplier<T> maker;
  private final Consumer<T> ender;
  private @Nullable T current;
  private int users;

  /**
   * Creates a holder that holds nothing yet.
   *
   * @param maker creates the shared object; called again when it was ended and is needed anew
   * @param ender ends it; must not block for long, and must not use this holder
   */
  public RefCounted(Supplier<T> maker, Consumer<T> ender) {
    this.maker = maker;
    this.ender = ender;
  }

  /** Acquires a share. */
  public synchronized Lease<T> acquire() {
    T shared = current;
    if (shared == null) {
      shared = maker.get();
      current = shared;
    }
    users++;
    return new Lease<>(this, shared);
  }

  private synchronized void leave() {
    users--;
    T shared = current;
    if (users == 0 && shared != null) {
      current = null;
      ender.accept(shared);
    }
  }

  /**
   * Share of one user.
   *
   * @param <T> type of the shared object
   */
  public static final class Lease<T> {
    private final RefCounted<T> of;
    private final T shared;
    private boolean released;

    private Lease(RefCounted<T> of, T shared) {
      this.of = of;
      this.shared = shared;
    }

    /** Returns the shared object, which must not be used after {@link #release}. */
    public T get() {
      return shared;
    }

    /** Releases the share; does nothing the second time. */
    public void release() {
      synchronized (this) {
        if (released) {
          return;
        }
        released = true;
      }
      of.leave();
    }
  }
}

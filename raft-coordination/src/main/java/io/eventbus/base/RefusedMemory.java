package io.eventbus.base;

import io.netty.util.internal.OutOfDirectMemoryError;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Test that tells a refused allocation of direct memory from the end of the heap: after the first,
 * only the code that asked for the memory fails; after the second, nothing can be relied on.
 * Stateless; any thread.
 */
public final class RefusedMemory {
  /**
   * Place where the JDK refuses direct memory: this class, or a method that it calls for the
   * message.
   */
  private static final String RESERVING = "java.nio.Bits";

  private static final String MESSAGE = "direct buffer memory";
  private static final int TOP_FRAMES = 3;

  /** Maximum number of causes that are examined: they may form a circle. */
  private static final int MAX_CAUSES = 16;

  private RefusedMemory() {}

  /**
   * Returns whether an error, or its cause, is a refused allocation of direct memory: Netty's
   * {@link OutOfDirectMemoryError}, or the JDK's {@link OutOfMemoryError} for direct buffers.
   *
   * @param error any error; null for none
   * @return false also for an error that was caused by a refused allocation and is itself the end
   *     of the heap, or any other {@link VirtualMachineError}
   */
  public static boolean isRefused(@Nullable Throwable error) {
    Throwable at = error;
    for (int i = 0; at != null && i < MAX_CAUSES; i++) {
      if (at instanceof VirtualMachineError) {
        return at instanceof OutOfMemoryError memory && isOfDirectMemory(memory);
      }
      at = at.getCause();
    }
    return false;
  }

  /**
   * Rethrows an error unless it is a refused allocation, which the caller can handle.
   *
   * @param error was caught
   * @throws OutOfMemoryError the same, if it is not {@linkplain #isRefused refused} direct memory
   */
  public static void rethrowOthers(OutOfMemoryError error) {
    if (!isRefused(error)) {
      throw error;
    }
  }

  private static boolean isOfDirectMemory(OutOfMemoryError error) {
    if (error instanceof OutOfDirectMemoryError) {
      return true;
    }
    String message = error.getMessage();
    if (message != null && message.toLowerCase(Locale.ROOT).contains(MESSAGE)) {
      return true;
    }
    StackTraceElement[] trace = error.getStackTrace();
    for (int i = 0; i < Math.min(TOP_FRAMES, trace.length); i++) {
      if (trace[i].getClassName().equals(RESERVING)) {
        return true;
      }
    }
    return false;
  }
}

package io.eventbus.link;

import io.netty.util.internal.OutOfDirectMemoryError;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Tells an allocation of direct memory that was refused from the end of the heap: after the first,
 * whatever has asked for the memory fails and everything else goes on; after the second, nothing
 * can be relied on. Stateless; any thread.
 */
public final class RefusedMemory {
  /** Where the JDK refuses direct memory: this class, or what it calls for the message. */
  private static final String RESERVING = "java.nio.Bits";

  private static final String MESSAGE = "direct buffer memory";
  private static final int TOP_FRAMES = 3;

  /** Causes are looked at so far: they may lead in a circle. */
  private static final int MAX_CAUSES = 16;

  private RefusedMemory() {}

  /**
   * Says whether an error, or what has caused it, is a refused allocation of direct memory: Netty's
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
   * Lets go on what can cope with a refused allocation, and nothing else.
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

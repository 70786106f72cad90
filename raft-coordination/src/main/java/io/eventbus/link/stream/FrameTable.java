package io.eventbus.link.stream;

import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Handlers of one end of a stream by type of frame. A frame of another type ends the connection: if
 * it were skipped, the two ends could count differently from then on, and acknowledgements would be
 * for other frames than those received. Immutable once it is filled; any thread.
 */
public final class FrameTable<E> {
  /** Handler of frames of one type. Called on the loop of the stream; must not block. */
  @FunctionalInterface
  public interface Handler<E> {
    /**
     * Handles the body of a frame. Returns false if it has to come again after {@link
     * StreamDecoder#resume}; then nothing was done.
     */
    boolean handle(E end, ByteBuffer in, int from, int to);
  }

  private @Nullable Handler<E>[] byType = empty(0);

  // Java cannot create an array of a generic type otherwise.
  @SuppressWarnings({"unchecked", "rawtypes"})
  private static <E> @Nullable Handler<E>[] empty(int size) {
    return new Handler[size];
  }

  /** Handler of frames of one type that never have to come again. */
  @FunctionalInterface
  public interface SureHandler<E> {
    /** Handles the body of a frame. */
    void handle(E end, ByteBuffer in, int from, int to);
  }

  /** Adds the handler of a type; returns this. */
  public FrameTable<E> always(int typeCode, SureHandler<E> handler) {
    return with(
        typeCode,
        (end, in, from, to) -> {
          handler.handle(end, in, from, to);
          return true;
        });
  }

  /** Adds the handler of a type; returns this. */
  public FrameTable<E> with(int typeCode, Handler<E> handler) {
    if (typeCode >= byType.length) {
      byType = Arrays.copyOf(byType, typeCode + 1);
    }
    byType[typeCode] = handler;
    return this;
  }

  /**
   * Handles a frame.
   *
   * @throws CorruptedFrameException if no handler has its type
   */
  public boolean handle(int typeCode, E end, ByteBuffer in, int from, int to) {
    Handler<E> handler = typeCode >= 0 && typeCode < byType.length ? byType[typeCode] : null;
    if (handler == null) {
      throw new CorruptedFrameException("typeCode: " + typeCode + " (expected: " + known() + ")");
    }
    return handler.handle(end, in, from, to);
  }

  private String known() {
    return IntStream.range(0, byType.length)
        .filter(code -> byType[code] != null)
        .mapToObj(Integer::toString)
        .collect(Collectors.joining(", "));
  }
}

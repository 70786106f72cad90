package io.eventbus.client.tyrus;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.Connection;
import org.glassfish.grizzly.EmptyCompletionHandler;
import org.glassfish.grizzly.WriteResult;
import org.glassfish.grizzly.memory.Buffers;
import org.glassfish.tyrus.spi.CompletionHandler;
import org.glassfish.tyrus.spi.Writer;
import org.jspecify.annotations.Nullable;

/**
 * Writer to one connection of Grizzly, whole frames one after the other: messages of the SDK, which
 * it masks itself, and the control frames of Tyrus, which come ready. Any thread may use it.
 */
final class WireWriter extends Writer {
  private final Connection<?> connection;
  private final SendBuffers sendBuffers;
  private final MaskingKeys keys = new MaskingKeys();

  WireWriter(Connection<?> connection, SendBuffers sendBuffers) {
    this.connection = connection;
    this.sendBuffers = sendBuffers;
  }

  /**
   * Sends a binary message; {@code done} is run with null when it is in the socket, or with the
   * failure.
   */
  void send(ByteBuffer message, Consumer<@Nullable Throwable> done) {
    ByteBuffer frame = sendBuffers.acquire(MaskedFrame.size(message.remaining()));
    MaskedFrame.write(frame, message, keys.next());
    enqueue(
        frame.flip(),
        new EmptyCompletionHandler<>() {
          @Override
          public void completed(WriteResult<Buffer, ?> result) {
            sendBuffers.release(frame);
            done.accept(null);
          }

          @Override
          public void failed(Throwable failure) {
            // Somebody may still read the buffer: it is not used again.
            done.accept(failure != null ? failure : new IOException("the connection is closed"));
          }

          @Override
          public void cancelled() {
            done.accept(new IOException("sending was cancelled"));
          }
        });
  }

  /** Writes bytes as they are. */
  void write(ByteBuffer bytes) {
    enqueue(bytes, new EmptyCompletionHandler<>());
  }

  @Override
  public void write(ByteBuffer bytes, CompletionHandler<ByteBuffer> done) {
    enqueue(
        bytes,
        new EmptyCompletionHandler<>() {
          @Override
          public void completed(WriteResult<Buffer, ?> result) {
            done.completed(bytes);
          }

          @Override
          public void failed(Throwable failure) {
            done.failed(failure);
          }

          @Override
          public void cancelled() {
            done.cancelled();
          }
        });
  }

  @SuppressWarnings("unchecked") // Grizzly's own types are raw here.
  private void enqueue(
      ByteBuffer bytes,
      org.glassfish.grizzly.CompletionHandler<? extends WriteResult<Buffer, ?>> done) {
    Buffer buffer = Buffers.wrap(connection.getMemoryManager(), bytes);
    ((Connection<Object>) connection)
        .write(buffer, (org.glassfish.grizzly.CompletionHandler<WriteResult<Buffer, Object>>) done);
  }

  @Override
  public void close() {
    // After the bytes that are being written.
    connection.closeSilently();
  }
}

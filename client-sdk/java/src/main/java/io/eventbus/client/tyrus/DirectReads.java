package io.eventbus.client.tyrus;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.filterchain.FilterChainContext;
import org.glassfish.grizzly.filterchain.NextAction;
import org.glassfish.grizzly.filterchain.TransportFilter;
import org.glassfish.grizzly.memory.Buffers;
import org.glassfish.grizzly.memory.MemoryManager;
import org.glassfish.grizzly.nio.transport.TCPNIOConnection;
import org.glassfish.grizzly.nio.transport.TCPNIOTransport;

/**
 * Filter that reads from the socket into one direct buffer for each selector thread, so that a byte
 * is copied once, to the place where the message is put together. The next filter must copy
 * everything it wants to keep before it returns. Not for TLS, whose filter keeps its input.
 */
final class DirectReads extends TransportFilter {
  private static final int BYTES = 256 * 1024;

  // The threads are those of the shared transport, and end with it.
  private static final ThreadLocal<Buffer> BUFFERS = new ThreadLocal<>();

  @Override
  public NextAction handleRead(FilterChainContext context) throws IOException {
    TCPNIOConnection connection = (TCPNIOConnection) context.getConnection();
    Buffer buffer = BUFFERS.get();
    if (buffer == null) {
      MemoryManager<?> memory = connection.getMemoryManager();
      buffer = Buffers.wrap(memory, ByteBuffer.allocateDirect(BYTES));
      BUFFERS.set(buffer);
    }
    buffer.clear();
    ((TCPNIOTransport) connection.getTransport()).read(connection, buffer);
    if (buffer.position() == 0) {
      return context.getStopAction();
    }
    buffer.flip();
    context.setMessage(buffer);
    return context.getInvokeAction();
  }
}

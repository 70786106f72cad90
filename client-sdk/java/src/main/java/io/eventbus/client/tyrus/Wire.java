package io.eventbus.client.tyrus;

import jakarta.websocket.CloseReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.CloseListener;
import org.glassfish.grizzly.CloseType;
import org.glassfish.grizzly.Closeable;
import org.glassfish.grizzly.Connection;
import org.glassfish.grizzly.EmptyCompletionHandler;
import org.glassfish.grizzly.IOEvent;
import org.glassfish.grizzly.WriteResult;
import org.glassfish.grizzly.filterchain.BaseFilter;
import org.glassfish.grizzly.filterchain.FilterChainContext;
import org.glassfish.grizzly.filterchain.NextAction;
import org.glassfish.grizzly.memory.Buffers;
import org.glassfish.tyrus.spi.ClientEngine;
import org.glassfish.tyrus.spi.ClientEngine.ClientUpgradeStatus;
import org.glassfish.tyrus.spi.CompletionHandler;
import org.glassfish.tyrus.spi.ReadHandler;
import org.glassfish.tyrus.spi.UpgradeResponse;
import org.glassfish.tyrus.spi.Writer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of Grizzly: the last filter of its chain. First it reads the answers of the proxy
 * and to the upgrade, then frames, of which it keeps Tyrus' share. What is read is confined to the
 * connection's selector thread; any thread may write, pause and close.
 */
final class Wire extends BaseFilter implements FrameReader.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(Wire.class);
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** The endpoint, as the wire sees it. */
  interface Endpoint {
    void message(ByteBuffer message);

    /** The connection did not come about, or it broke. */
    void failed(Throwable failure);

    /** The connection is gone. */
    void gone();
  }

  private final SendBuffers sendBuffers;
  private final MaskingKeys keys = new MaskingKeys();
  private final FrameReader frames;
  private final Endpoint endpoint;
  private volatile @Nullable ClientEngine engine;
  private volatile @Nullable Connection<?> connection;
  private volatile boolean paused;
  private volatile boolean cancelled;
  // Confined to the selector thread.
  private @Nullable Runnable proxyAnswered;
  private @Nullable HttpHead head;
  private @Nullable ReadHandler tyrus;
  private org.glassfish.tyrus.spi.@Nullable Connection upgraded;
  private ByteBuffer held = NOTHING;
  private boolean suspended;

  Wire(SendBuffers sendBuffers, int maxMessageBytes, Endpoint endpoint) {
    this.sendBuffers = sendBuffers;
    this.frames = new FrameReader(maxMessageBytes, this);
    this.endpoint = endpoint;
  }

  /** Tyrus' side of the handshake, before there is a connection. */
  void engine(ClientEngine handshake) {
    engine = handshake;
  }

  boolean hasEngine() {
    return engine != null;
  }

  /** There is a socket, which is not connected yet. */
  void socket(Connection<?> made) {
    connection = made;
    CloseListener<Closeable, CloseType> onClosed = (closed, type) -> closed();
    made.addCloseListener(onClosed);
    if (cancelled) {
      made.terminateSilently();
    }
  }

  // ---- Up to the upgrade

  /** Asks the proxy for a tunnel; what follows is done when it is there. */
  void tunnel(ByteBuffer request, Runnable then) {
    proxyAnswered = then;
    head = new HttpHead();
    write(request);
  }

  /** Asks for the upgrade. */
  void upgrade() {
    ClientEngine handshake = engine;
    if (handshake != null) {
      head = new HttpHead();
      write(HttpHead.upgrade(handshake.createUpgradeRequest(null)));
    }
  }

  private void answered(UpgradeResponse answer) throws IOException {
    Runnable then = proxyAnswered;
    if (then != null) {
      if (answer.getStatus() / 100 != 2) {
        throw new IOException("the proxy answered with HTTP status " + answer.getStatus());
      }
      proxyAnswered = null;
      then.run();
      return;
    }
    ClientEngine handshake = engine;
    if (answer.getStatus() != SWITCHING_PROTOCOLS || handshake == null) {
      throw new IOException(
          "HTTP status: "
              + answer.getStatus()
              + " "
              + answer.getReasonPhrase()
              + " (expected: 101 Switching Protocols)");
    }
    Writer writer = new ControlWriter();
    ClientEngine.ClientUpgradeInfo result =
        handshake.processResponse(answer, writer, reason -> terminate());
    if (result.getUpgradeStatus() != ClientUpgradeStatus.SUCCESS) {
      throw new IOException("the answer to the upgrade is not one of a WebSocket server");
    }
    org.glassfish.tyrus.spi.Connection made = result.createConnection();
    upgraded = made;
    tyrus = made.getReadHandler();
  }

  // ---- Reading, on the selector thread

  @Override
  public NextAction handleRead(FilterChainContext context) {
    Buffer message = context.getMessage();
    ByteBuffer bytes = message.toByteBuffer();
    read(bytes);
    message.tryDispose();
    return context.getStopAction();
  }

  private void read(ByteBuffer bytes) {
    try {
      if (suspended) {
        hold(bytes);
        return;
      }
      while (tyrus == null && bytes.hasRemaining()) {
        HttpHead reading = head;
        if (reading == null || !reading.read(bytes)) {
          break;
        }
        head = null;
        answered(reading.parse());
      }
      if (tyrus != null) {
        frames.read(bytes);
      }
      if (paused) {
        suspend(bytes);
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("reading failed: closing the connection", e);
      endpoint.failed(e);
      terminate();
    }
  }

  private void suspend(ByteBuffer rest) throws IOException {
    suspended = true;
    hold(rest);
    Connection<?> open = connection;
    if (open != null) {
      open.disableIOEvent(IOEvent.READ);
    }
  }

  private void hold(ByteBuffer bytes) {
    if (bytes.hasRemaining()) {
      ByteBuffer all = ByteBuffer.allocate(held.remaining() + bytes.remaining());
      held = all.put(held).put(bytes).flip();
    }
  }

  private void goOn() {
    if (suspended && !paused) {
      suspended = false;
      ByteBuffer rest = held;
      held = NOTHING;
      read(rest);
      Connection<?> open = connection;
      if (!suspended && open != null) {
        try {
          open.enableIOEvent(IOEvent.READ);
        } catch (IOException e) {
          LOG.debug("the connection is closed already", e);
        }
      }
    }
  }

  @Override
  public void message(ByteBuffer message) {
    endpoint.message(message);
  }

  @Override
  public void otherFrame(ByteBuffer frame) {
    ReadHandler handler = tyrus;
    if (handler != null) {
      handler.handle(frame);
    }
  }

  @Override
  public void broken(int closeCode, String reason) {
    org.glassfish.tyrus.spi.Connection open = upgraded;
    if (open != null) {
      open.close(new CloseReason(CloseReason.CloseCodes.getCloseCode(closeCode), reason));
    }
  }

  @Override
  public boolean isPaused() {
    return paused;
  }

  // ---- Any thread

  void pause() {
    paused = true;
  }

  void resume() {
    paused = false;
    Connection<?> open = connection;
    if (open != null) {
      open.executeInEventThread(IOEvent.READ, this::goOn);
    }
  }

  /** Sends a binary message; {@code done} is run when it is in the socket, with null, or failed. */
  void send(ByteBuffer message, java.util.function.Consumer<@Nullable Throwable> done) {
    Connection<?> open = connection;
    if (open == null) {
      done.accept(new IOException("not connected"));
      return;
    }
    ByteBuffer frame = sendBuffers.take(MaskedFrame.size(message.remaining()));
    MaskedFrame.write(frame, message, keys.next());
    write(
        open,
        frame.flip(),
        new EmptyCompletionHandler<>() {
          @Override
          public void completed(WriteResult<Buffer, ?> result) {
            sendBuffers.give(frame);
            done.accept(null);
          }

          @Override
          public void failed(Throwable failure) {
            // Somebody may still look into the buffer: it is not used again.
            done.accept(failure != null ? failure : new IOException("the connection is closed"));
          }

          @Override
          public void cancelled() {
            done.accept(new IOException("sending was cancelled"));
          }
        });
  }

  private void write(ByteBuffer bytes) {
    Connection<?> open = connection;
    if (open != null) {
      write(open, bytes, new EmptyCompletionHandler<>());
    }
  }

  @SuppressWarnings("unchecked") // Grizzly's own types are raw here.
  private static void write(
      Connection<?> open,
      ByteBuffer bytes,
      org.glassfish.grizzly.CompletionHandler<? extends WriteResult<Buffer, ?>> done) {
    Buffer buffer = Buffers.wrap(open.getMemoryManager(), bytes);
    ((Connection<Object>) open)
        .write(buffer, (org.glassfish.grizzly.CompletionHandler<WriteResult<Buffer, Object>>) done);
  }

  boolean isOpen() {
    Connection<?> open = connection;
    return open != null && open.isOpen();
  }

  /** Closes the socket at once, or as soon as there is one. */
  void terminate() {
    cancelled = true;
    Connection<?> open = connection;
    if (open != null) {
      open.terminateSilently();
    }
  }

  private void closed() {
    org.glassfish.tyrus.spi.Connection open = upgraded;
    if (open != null) {
      open.close(new CloseReason(CloseReason.CloseCodes.CLOSED_ABNORMALLY, ""));
    }
    endpoint.gone();
  }

  /** Where Tyrus writes control frames, whole frames between ours. */
  private final class ControlWriter extends Writer {
    @Override
    public void write(ByteBuffer bytes, CompletionHandler<ByteBuffer> done) {
      Connection<?> open = connection;
      if (open == null) {
        done.failed(new IOException("not connected"));
        return;
      }
      Wire.write(
          open,
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

    @Override
    public void close() {
      Connection<?> open = connection;
      if (open != null) {
        // After what is being written.
        open.closeSilently();
      }
    }
  }
}

package io.eventbus.client.tyrus;

import io.eventbus.client.internal.base.UpgradeRefused;
import jakarta.websocket.CloseReason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.glassfish.grizzly.Buffer;
import org.glassfish.grizzly.CloseListener;
import org.glassfish.grizzly.CloseType;
import org.glassfish.grizzly.Closeable;
import org.glassfish.grizzly.Connection;
import org.glassfish.grizzly.IOEvent;
import org.glassfish.grizzly.filterchain.BaseFilter;
import org.glassfish.grizzly.filterchain.FilterChainContext;
import org.glassfish.grizzly.filterchain.NextAction;
import org.glassfish.tyrus.spi.ClientEngine;
import org.glassfish.tyrus.spi.ClientEngine.ClientUpgradeStatus;
import org.glassfish.tyrus.spi.ReadHandler;
import org.glassfish.tyrus.spi.UpgradeResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grizzly side of a connection: the last filter of its chain. First it reads the answers of the
 * proxy and to the upgrade, then frames, of which it passes Tyrus' share on. Reading is confined to
 * the connection's selector thread; any thread may write, pause and close.
 */
final class TyrusWire extends BaseFilter implements FrameReader.Sink {
  private static final Logger LOG = LoggerFactory.getLogger(TyrusWire.class);
  private static final int SWITCHING_PROTOCOLS = 101;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  /** Endpoint as the wire sees it. */
  interface Endpoint {
    void message(ByteBuffer message);

    /** Called when the connection could not be made, or broke. */
    void failed(Throwable failure);

    /** Called for input that cannot be read: the connection is to be closed with this code. */
    void unreadable(int closeCode, String reason);

    /** Called when the connection is gone. */
    void gone();
  }

  private final SendBuffers sendBuffers;
  private final FrameReader frames;
  private final Endpoint endpoint;
  private volatile @Nullable ClientEngine engine;
  private volatile @Nullable Connection<?> connection;
  // The same once it is connected.
  private volatile @Nullable Connection<?> connected;
  private volatile @Nullable WireWriter writer;
  private volatile boolean paused;
  private volatile boolean cancelled;
  // Confined to the selector thread.
  private @Nullable Runnable proxyAnswered;
  private @Nullable HttpHead head;
  private @Nullable ReadHandler tyrus;
  private org.glassfish.tyrus.spi.@Nullable Connection upgraded;
  private ByteBuffer held = NOTHING;
  private boolean suspended;

  TyrusWire(SendBuffers sendBuffers, int maxMessageBytes, Endpoint endpoint) {
    this.sendBuffers = sendBuffers;
    this.frames = new FrameReader(maxMessageBytes, this);
    this.endpoint = endpoint;
  }

  /** Sets Tyrus' side of the handshake, before there is a connection. */
  void engine(ClientEngine handshake) {
    engine = handshake;
  }

  boolean hasEngine() {
    return engine != null;
  }

  /** Sets the socket, which is not connected yet. */
  void socket(Connection<?> made) {
    writer = new WireWriter(made, sendBuffers);
    connection = made;
    CloseListener<Closeable, CloseType> onClosed = (closed, type) -> closed(made);
    made.addCloseListener(onClosed);
    if (cancelled) {
      made.terminateSilently();
    }
  }

  /** Starts on the connected socket; a failure to connect is reported where it is connected. */
  void connected(Connection<?> made) {
    connected = made;
    if (!made.isOpen()) {
      closed(made);
    }
  }

  /** Closes a socket that is not connected yet: another one follows. */
  void dropSocket() {
    Connection<?> made = connection;
    if (made != null) {
      made.terminateSilently();
    }
  }

  boolean isCancelled() {
    return cancelled;
  }

  // ---- Up to the upgrade

  /** Asks the proxy for a tunnel; runs the task when it is there. */
  void tunnel(ByteBuffer request, Runnable then) {
    WireWriter out = writer;
    if (out != null) {
      proxyAnswered = then;
      head = new HttpHead();
      out.write(request);
    }
  }

  /** Asks for the upgrade. */
  void upgrade() {
    ClientEngine handshake = engine;
    WireWriter out = writer;
    if (handshake != null && out != null) {
      head = new HttpHead();
      out.write(HttpHead.upgrade(handshake.createUpgradeRequest(null)));
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
    WireWriter out = writer;
    if (answer.getStatus() != SWITCHING_PROTOCOLS) {
      throw new UpgradeRefused(
          answer.getStatus(),
          answer.getReasonPhrase(),
          answer.getFirstHeaderValue("Retry-After"),
          answer.getFirstHeaderValue(UpgradeRefused.BY_BUS) != null);
    }
    if (handshake == null || out == null) {
      throw new IOException("an answer to an upgrade that was not asked for");
    }
    ClientEngine.ClientUpgradeInfo result =
        handshake.processResponse(answer, out, reason -> terminate());
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
      boolean stop = paused;
      // Another thread may resume while this one stops: the rest must be read or held, never
      // dropped.
      while (tyrus != null && !stop && bytes.hasRemaining() && !frames.isOver()) {
        frames.read(bytes);
        stop = paused;
      }
      if (stop) {
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
    endpoint.unreadable(closeCode, reason);
  }

  /** Accepts messages of up to this size from the next one on; on the selector thread. */
  void limit(int messageBytes) {
    frames.limit(messageBytes);
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

  /** Sends a binary message: see {@link WireWriter#send}. */
  void send(ByteBuffer message, Consumer<@Nullable Throwable> done) {
    WireWriter out = writer;
    if (out == null) {
      done.accept(new IOException("not connected"));
    } else {
      out.send(message, done);
    }
  }

  /** Closes the socket at once, or as soon as there is one. */
  void terminate() {
    cancelled = true;
    Connection<?> open = connection;
    if (open != null) {
      open.terminateSilently();
    }
  }

  private void closed(Connection<?> made) {
    if (made != connected) {
      return;
    }
    org.glassfish.tyrus.spi.Connection open = upgraded;
    if (open != null) {
      open.close(new CloseReason(CloseReason.CloseCodes.CLOSED_ABNORMALLY, ""));
    }
    endpoint.gone();
  }
}

package io.eventbus.client.tyrus;

import io.eventbus.client.internal.base.Transport;
import io.eventbus.client.internal.base.TransportProvider;
import jakarta.websocket.CloseReason;
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.MessageHandler;
import jakarta.websocket.PongMessage;
import jakarta.websocket.Session;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connection with Tyrus' and Grizzly's callbacks on one side, the port's on the other. */
final class TyrusConnection extends Endpoint implements Transport.Channel, TyrusWire.Endpoint {
  private static final Logger LOG = LoggerFactory.getLogger(TyrusConnection.class);

  /** States in their order; a connection that cannot be made is over at once. */
  private enum State {
    CONNECTING,
    OPEN,
    OVER
  }

  private final TransportProvider.Settings settings;
  private final URI url;
  private final Transport.Listener listener;
  private final Consumer<TyrusConnection> onOver;
  private final TyrusWire wire;
  // Tyrus and Grizzly both report the end, and Tyrus does so twice.
  private final AtomicReference<State> state = new AtomicReference<>(State.CONNECTING);
  private volatile @Nullable Session session;
  private volatile boolean aborted;

  /**
   * Creates a connection that is not open yet.
   *
   * @param onOver is run when it could not be made, or has ended
   */
  TyrusConnection(
      TransportProvider.Settings settings,
      URI url,
      SendBuffers sendBuffers,
      Transport.Listener listener,
      Consumer<TyrusConnection> onOver) {
    this.settings = settings;
    this.url = url;
    this.listener = listener;
    this.onOver = onOver;
    this.wire = new TyrusWire(sendBuffers, settings.maxMessageBytes(), this);
  }

  TyrusWire wire() {
    return wire;
  }

  // ---- Called by Tyrus and by the wire

  @Override
  public void onOpen(Session open, EndpointConfig config) {
    session = open;
    String agreed = open.getNegotiatedSubprotocol();
    if (!settings.subProtocol().equals(agreed)) {
      refuse(open, agreed);
      return;
    }
    open.setMaxBinaryMessageBufferSize(settings.maxMessageBytes());
    // Messages that come in fragments; the others do not come through Tyrus.
    open.addMessageHandler(
        ByteBuffer.class,
        new MessageHandler.Whole<ByteBuffer>() {
          @Override
          public void onMessage(ByteBuffer message) {
            listener.onMessage(message.hasArray() ? message : copyOf(message));
          }
        });
    open.addMessageHandler(PongMessage.class, pong -> listener.onPong());
    if (state.compareAndSet(State.CONNECTING, State.OPEN)) {
      listener.onOpen(this);
    } else {
      wire.terminate();
    }
  }

  private void refuse(Session open, String agreed) {
    if (state.compareAndSet(State.CONNECTING, State.OVER)) {
      onOver.accept(this);
      closeSession(
          open, new CloseReason(CloseReason.CloseCodes.PROTOCOL_ERROR, "no common sub-protocol"));
      wire.terminate();
      listener.onFailed(
          new IOException(
              "sub-protocol: '" + agreed + "' (expected: '" + settings.subProtocol() + "')"));
    }
  }

  private static ByteBuffer copyOf(ByteBuffer message) {
    byte[] bytes = new byte[message.remaining()];
    message.get(bytes);
    return ByteBuffer.wrap(bytes);
  }

  @Override
  public void message(ByteBuffer message) {
    if (state.get() == State.OPEN) {
      listener.onMessage(message);
    }
  }

  @Override
  public void onClose(Session closing, CloseReason reason) {
    String text = reason.getReasonPhrase();
    closed(reason.getCloseCode().getCode(), text == null ? "" : text);
  }

  @Override
  public void onError(Session failing, Throwable failure) {
    LOG.debug("the connection failed", failure);
  }

  @Override
  public void failed(Throwable failure) {
    if (state.compareAndSet(State.CONNECTING, State.OVER)) {
      onOver.accept(this);
      wire.terminate();
      listener.onFailed(OpeningFailure.explain(url, failure));
    } else {
      abort();
    }
  }

  @Override
  public void unreadable(int closeCode, String reason) {
    LOG.warn("{} sends what cannot be read, {}: closing the connection", url, reason);
    if (state.compareAndSet(State.OPEN, State.OVER)) {
      onOver.accept(this);
      Session open = session;
      if (open != null) {
        closeSession(open, new CloseReason(CloseReason.CloseCodes.getCloseCode(closeCode), reason));
      }
      wire.terminate();
      // The code is for the other side, whose mistake it is: for this side the connection is lost.
      listener.onClosed(CloseReason.CloseCodes.CLOSED_ABNORMALLY.getCode(), reason);
    } else {
      wire.terminate();
    }
  }

  @Override
  public void gone() {
    if (state.get() == State.CONNECTING) {
      failed(OpeningFailure.closed(url));
    } else {
      closed(CloseReason.CloseCodes.CLOSED_ABNORMALLY.getCode(), "");
    }
  }

  private void closed(int code, String reason) {
    if (state.compareAndSet(State.OPEN, State.OVER)) {
      onOver.accept(this);
      if (aborted) {
        listener.onClosed(CloseReason.CloseCodes.CLOSED_ABNORMALLY.getCode(), "aborted");
      } else {
        listener.onClosed(code, reason);
      }
    }
  }

  // ---- Called by the client

  /** Gives up while connecting. */
  void cancel() {
    if (state.get() == State.CONNECTING) {
      failed(new IOException("given up"));
    }
  }

  @Override
  public void send(ByteBuffer message, Transport.SendCallback callback) {
    // Not through Tyrus, which would copy the message three times and mask it byte by byte.
    wire.send(message, callback::onSent);
  }

  @Override
  public void pauseReading() {
    wire.pause();
  }

  @Override
  public void resumeReading() {
    wire.resume();
  }

  @Override
  public void acceptMessages(int maxBytes) {
    wire.limit(maxBytes);
    Session open = session;
    if (open != null) {
      open.setMaxBinaryMessageBufferSize(maxBytes);
    }
  }

  @Override
  public void ping() {
    Session open = session;
    if (open != null) {
      try {
        open.getAsyncRemote().sendPing(ByteBuffer.allocate(0));
      } catch (IOException | RuntimeException e) {
        // The connection is ending; if nobody reports that, the missing pong does.
        LOG.debug("pinging failed", e);
      }
    }
  }

  @Override
  public void close(int code, String reason) {
    Session open = session;
    if (open != null) {
      closeSession(open, new CloseReason(CloseReason.CloseCodes.getCloseCode(code), reason));
    }
    // Sent or not: nobody waits for a network that accepts nothing.
    wire.terminate();
  }

  @Override
  public void abort() {
    aborted = true;
    wire.terminate();
    closed(CloseReason.CloseCodes.CLOSED_ABNORMALLY.getCode(), "aborted");
  }

  private static void closeSession(Session open, CloseReason reason) {
    try {
      if (open.isOpen()) {
        open.close(reason);
      }
    } catch (IOException | IllegalStateException e) {
      LOG.debug("closing failed", e);
    }
  }
}

package io.eventbus.client.tyrus;

import io.eventbus.client.internal.Transport;
import io.eventbus.client.internal.TransportProvider;
import jakarta.websocket.CloseReason;
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.MessageHandler;
import jakarta.websocket.PongMessage;
import jakarta.websocket.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection: Tyrus' callbacks on one side, the port's on the other. */
final class TyrusConnection extends Endpoint implements Transport.Channel {
  private static final Logger LOG = LoggerFactory.getLogger(TyrusConnection.class);

  private final TransportProvider.Settings settings;
  private final Transport.Listener listener;
  private final Consumer<TyrusConnection> onOpened;
  private final Consumer<TyrusConnection> onGone;
  // Tyrus calls onClose twice when the other side closes: for its frame and for our answer.
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean opened = new AtomicBoolean();
  private volatile @Nullable Session session;
  private volatile boolean aborted;

  TyrusConnection(
      TransportProvider.Settings settings,
      Transport.Listener listener,
      Consumer<TyrusConnection> onOpened,
      Consumer<TyrusConnection> onGone) {
    this.settings = settings;
    this.listener = listener;
    this.onOpened = onOpened;
    this.onGone = onGone;
  }

  void failed(Throwable failure) {
    if (opened.get()) {
      abort();
    } else if (ended.compareAndSet(false, true)) {
      listener.onFailed(rootOf(failure));
    }
  }

  /** Tyrus wraps what happened in exceptions that say nothing. */
  private static Throwable rootOf(Throwable failure) {
    Throwable root = failure;
    for (Throwable cause = root.getCause();
        cause != null && cause != root;
        cause = root.getCause()) {
      root = cause;
    }
    return root;
  }

  @Override
  public void onOpen(Session open, EndpointConfig config) {
    session = open;
    String agreed = open.getNegotiatedSubprotocol();
    if (!settings.subProtocol().equals(agreed)) {
      if (ended.compareAndSet(false, true)) {
        listener.onFailed(
            new IOException(
                "sub-protocol: '" + agreed + "' (expected: '" + settings.subProtocol() + "')"));
      }
      closeSession(
          open, new CloseReason(CloseReason.CloseCodes.PROTOCOL_ERROR, "no common sub-protocol"));
      return;
    }
    open.setMaxBinaryMessageBufferSize(settings.maxMessageBytes());
    open.setMaxIdleTimeout(0);
    open.addMessageHandler(
        ByteBuffer.class,
        new MessageHandler.Whole<ByteBuffer>() {
          @Override
          public void onMessage(ByteBuffer message) {
            listener.onMessage(message.hasArray() ? message : copyOf(message));
          }
        });
    open.addMessageHandler(PongMessage.class, pong -> listener.onPong());
    opened.set(true);
    onOpened.accept(this);
    listener.onOpen(this);
  }

  private static ByteBuffer copyOf(ByteBuffer message) {
    byte[] bytes = new byte[message.remaining()];
    message.get(bytes);
    return ByteBuffer.wrap(bytes);
  }

  @Override
  public void onClose(Session closing, CloseReason reason) {
    if (ended.compareAndSet(false, true)) {
      onGone.accept(this);
      if (aborted) {
        // Tyrus reports the code that abort() had to give it, as if the other side had sent it.
        listener.onClosed(CloseReason.CloseCodes.CLOSED_ABNORMALLY.getCode(), "aborted");
      } else {
        String text = reason.getReasonPhrase();
        listener.onClosed(reason.getCloseCode().getCode(), text == null ? "" : text);
      }
    }
  }

  @Override
  public void onError(Session failing, Throwable failure) {
    LOG.debug("the connection failed", failure);
  }

  @Override
  public void send(ByteBuffer message, Transport.SendCallback callback) {
    Session open = session;
    if (open == null) {
      callback.onSent(new IOException("not connected"));
      return;
    }
    try {
      // Never the basic remote: it waits without a limit. Tyrus copies the bytes in the call.
      open.getAsyncRemote()
          .sendBinary(
              message,
              result -> callback.onSent(result.isOK() ? null : failureOf(result.getException())));
    } catch (RuntimeException e) {
      callback.onSent(e);
    }
  }

  private static Throwable failureOf(@Nullable Throwable failure) {
    return failure != null ? failure : new IOException("sending failed");
  }

  @Override
  public void ping() {
    Session open = session;
    if (open != null) {
      try {
        open.getAsyncRemote().sendPing(ByteBuffer.allocate(0));
      } catch (IOException | RuntimeException e) {
        // The connection is going; if nobody says so, the missing pong does.
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
  }

  @Override
  public void abort() {
    aborted = true;
    // Tyrus has no other way; it shuts the transport down right after the Close frame, sent or not.
    close(CloseReason.CloseCodes.GOING_AWAY.getCode(), "");
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

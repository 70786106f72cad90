package io.eventbus.loadtest.driver.tyruspaper;

import jakarta.websocket.OnClose;
import jakarta.websocket.OnMessage;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The paper's bus: keeps the sessions of each topic and passes every message on to them, one after
 * the other. There is one instance for each connection; the map is common to all.
 */
@ServerEndpoint("/bus")
public final class PaperEndpoint {
  private static final Map<String, Set<Session>> SESSIONS = new ConcurrentHashMap<>();

  private final PaperCodec codec = new PaperCodec();

  /** Made by Tyrus for each connection. */
  public PaperEndpoint() {
    // Nothing but the codec is its own.
  }

  /**
   * Takes one message.
   *
   * @param bytes the message
   * @param session where it came from
   * @throws IOException if a subscriber cannot be written to
   */
  @OnMessage
  public void onMessage(ByteBuffer bytes, Session session) throws IOException {
    PaperMessage message = codec.decode(bytes).receivedNow();
    ByteBuffer encoded = codec.encode(message);
    if (message.typeCode() == PaperMessage.SUBSCRIBE) {
      SESSIONS
          .computeIfAbsent(message.topic(), topic -> ConcurrentHashMap.newKeySet())
          .add(session);
      send(session, encoded);
      return;
    }
    for (Session subscriber : SESSIONS.getOrDefault(message.topic(), Set.of())) {
      send(subscriber, encoded.duplicate());
    }
  }

  private static void send(Session session, ByteBuffer message) throws IOException {
    // Two publishers' threads must not be in one session at a time.
    synchronized (session) {
      session.getBasicRemote().sendBinary(message);
    }
  }

  /** Forgets a connection. */
  @OnClose
  public void onClose(Session session) {
    SESSIONS.values().forEach(sessions -> sessions.remove(session));
  }
}

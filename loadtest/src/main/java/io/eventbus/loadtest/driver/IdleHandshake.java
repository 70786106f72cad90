package io.eventbus.loadtest.driver;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;

/**
 * Beginning of a connection of a system's protocol, for connections that then do nothing. The load
 * test opens these itself, with the same few lines for every system, so that no client library is
 * measured.
 *
 * @param path to upgrade to WebSocket at, empty for a plain TCP connection
 * @param subprotocol to ask for, empty for none
 * @param greetings what the client of a number, from 0, sends first; over WebSocket in one binary
 *     message
 */
public record IdleHandshake(
    int port, String path, String subprotocol, IntFunction<ByteBuffer> greetings, Answer answer) {

  /** Creates one for clients that all say the same. */
  public IdleHandshake(
      int port, String path, String subprotocol, ByteBuffer greeting, Answer answer) {
    this(port, path, subprotocol, number -> greeting, answer);
  }

  /**
   * Returns what a client sends first.
   *
   * @param number of the client, from 0
   */
  public ByteBuffer greeting(int number) {
    return greetings.apply(number).duplicate();
  }

  /** Looks at what a server has sent after the upgrade. */
  @FunctionalInterface
  public interface Answer {
    /**
     * Says whether the server has let the client in.
     *
     * @return false as long as that is not clear
     */
    boolean complete(ByteBuffer received);
  }

  /** Recognises a text. */
  public static Answer text(String text) {
    return received ->
        StandardCharsets.ISO_8859_1.decode(received.duplicate()).toString().contains(text);
  }

  /**
   * Recognises the first byte.
   *
   * @return an answer that is complete when the byte has come
   */
  public static Answer firstByte(int first) {
    return received ->
        received.hasRemaining() && (received.get(received.position()) & 0xFF) == first;
  }
}

package io.eventbus.client;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Messages both ways between a caller and one member of a service, in order and each at most once.
 * Any thread may use it.
 *
 * <p>Neither end can send more than the other one accepts: messages to send wait in a bounded
 * buffer here, and messages that were received and not read keep the other end from sending. It is
 * independent of other tunnels, requests and events of the same client.
 *
 * <p>Each direction ends by itself: {@link #closeOutput} here is the end of the messages there. A
 * tunnel that ends otherwise, because of {@link #reset}, a lost connection or a member that is
 * gone, ends with {@link EventBusException.CallFailed} at both ends, after the messages that were
 * received before.
 */
public interface Tunnel extends AutoCloseable {
  /**
   * Returns the service.
   *
   * @return its name
   */
  String service();

  /**
   * Returns the first event of the other end: the caller gets the member's answer, the member the
   * caller's request.
   *
   * @return the event
   */
  Event opening();

  /**
   * Sends a message. It is accepted if less than {@link TunnelOptions#bufferBytes} wait, whatever
   * its size, and waits then until the other end accepts it.
   *
   * @param message any bytes, also none; not to be changed afterwards
   * @return a stage that completes when there is room for the next message, or with {@link
   *     EventBusException.CallFailed} if the tunnel ends before; with {@link
   *     EventBusException.CallFailed.Overloaded} and nothing sent if the last one has not completed
   * @throws IllegalStateException after {@link #closeOutput}
   */
  CompletionStage<Void> send(byte[] message);

  /**
   * Returns the messages of the other end. They are read as the subscriber asks for them; the rest
   * keeps the other end from sending. A message that is longer than {@link
   * TunnelOptions#messageBytes} ends the tunnel.
   *
   * @return a publisher for one subscriber, which is called on the client's executor, and completes
   *     with the end of the messages
   */
  Flow.Publisher<byte[]> messages();

  /**
   * Returns the bytes of the other end's messages, as they come and whatever their size; instead of
   * {@link #messages}.
   *
   * @return a stream for one reader at a time; reading blocks, and throws {@link
   *     java.io.IOException} with {@link EventBusException.CallFailed} as its cause. Closing it
   *     ends the tunnel if the other end has not ended its messages
   */
  InputStream asInputStream();

  /**
   * Returns a stream that sends each array it is given as one message.
   *
   * @return a stream; writing blocks while there is no room, and throws {@link java.io.IOException}
   *     if the tunnel has ended. Closing it is {@link #closeOutput}
   */
  OutputStream asOutputStream();

  /** Ends the messages to the other end, behind those that wait. A second call does nothing. */
  void closeOutput();

  /**
   * Ends both directions at once. Messages that wait to be sent are lost; the other end gets {@link
   * EventBusException.CallFailed.Rejected}.
   *
   * @param type the application's name for the failure, at most 255 bytes of UTF-8
   * @param message for people
   */
  void reset(String type, String message);

  /**
   * Returns a stage for the end of the tunnel.
   *
   * @return a stage that completes when both directions have ended, everything of this end is sent
   *     and the other end's last message has come, or with the failure that has ended it
   */
  CompletionStage<Void> closed();

  /**
   * Ends the tunnel if it has not ended: the other end gets {@link
   * EventBusException.CallFailed.Cancelled}. Messages that wait to be sent are lost; to end it in
   * good order, use {@link #closeOutput} and wait for {@link #closed}.
   */
  @Override
  void close();
}

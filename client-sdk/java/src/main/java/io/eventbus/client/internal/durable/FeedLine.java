package io.eventbus.client.internal.durable;

/** Connection that feeds consumers. */
public interface FeedLine {
  /** Sends a frame over this connection, or drops it if that has ended. Any thread. */
  void send(byte[] frame);
}

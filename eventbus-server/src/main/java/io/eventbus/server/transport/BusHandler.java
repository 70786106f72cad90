package io.eventbus.server.transport;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.Subscriber;
import io.eventbus.server.session.ClientLink;
import io.eventbus.server.session.Session;
import java.nio.ByteBuffer;
import java.util.concurrent.RejectedExecutionException;

/**
 * Joins a connection, its {@link Session} and its {@link OutboundQueue}. Confined to the
 * connection's loop.
 */
final class BusHandler implements MessageHandler, ClientLink {
  private final LoopState loop;
  private final WebSocketConnection connection;
  private final OutboundQueue queue;
  private final Session session;
  private final ServerConfig config;
  private final long acceptedAt;
  private boolean closeWhenWritten;

  BusHandler(LoopState loop, WebSocketConnection connection, long acceptedAt) {
    this.loop = loop;
    this.connection = connection;
    this.config = loop.config();
    this.acceptedAt = acceptedAt;
    this.queue = new OutboundQueue(loop, connection, this::closeSlow);
    this.session = new Session(loop.context(), this);
  }

  @Override
  public boolean acceptsText() {
    return false;
  }

  @Override
  public int maxMessageBytes() {
    return session.isWelcomed() ? config.limits().messageBytes() : config.limits().helloBytes();
  }

  @Override
  public int onMessage(
      ByteBuffer message, int from, int to, boolean text, long nowNanos, Runnable retry) {
    return session.onMessage(message, from, to, nowNanos, retry);
  }

  @Override
  public void onWritable() {
    queue.drain();
    queue.onWritten();
    closeIfDone();
  }

  @Override
  public void onTick(long nowNanos) {
    if (!session.isWelcomed() && nowNanos - acceptedAt > config.timeouts().hello().toNanos()) {
      connection.close(
          CloseReason.IDLE,
          "no Hello within " + config.timeouts().hello() + " of connecting; reconnect");
      return;
    }
    queue.onTick(nowNanos);
    closeIfDone();
  }

  @Override
  public void onShutdown() {
    closeWhenWritten = true;
    queue.drain();
    closeIfDone();
  }

  private void closeIfDone() {
    if (closeWhenWritten && queue.isEmpty()) {
      connection.close(CloseReason.SHUTTING_DOWN, "the bus shuts down; reconnect elsewhere");
    }
  }

  private void closeSlow(String why) {
    connection.close(CloseReason.SLOW_CONSUMER, why);
  }

  @Override
  public void onClosed() {
    session.onClosed();
    queue.close();
  }

  @Override
  public void send(byte[] frame) {
    queue.send(frame);
  }

  @Override
  public void send(Delivery frame) {
    queue.send(frame);
  }

  @Override
  public void sendLast(byte[] frame) {
    queue.sendLast(frame);
  }

  @Override
  public boolean mustWait(Runnable retry) {
    return queue.mustWait(retry);
  }

  @Override
  public void nextTurn(Runnable retry) {
    loop.nextTurn(retry);
  }

  @Override
  public void close(CloseReason reason, String message) {
    // What was sent before, a Problem for instance, goes out first as far as the socket takes it.
    queue.drain();
    connection.close(reason, message);
  }

  @Override
  public Subscriber subscriber() {
    return queue;
  }

  @Override
  public void execute(Runnable task) {
    if (loop.eventLoop().inEventLoop()) {
      task.run();
      return;
    }
    try {
      loop.eventLoop().execute(task);
    } catch (RejectedExecutionException e) {
      // The bus has ended, and this connection with it.
      return;
    }
  }

  @Override
  public long queuedBytes() {
    return queue.bytes();
  }

  @Override
  public long keptBytes() {
    return session.keptBytes();
  }

  @Override
  public long delivered() {
    return queue.delivered();
  }

  @Override
  public long dropped() {
    return queue.dropped();
  }

  @Override
  public String remoteAddress() {
    return String.valueOf(connection.channel().remoteAddress());
  }
}

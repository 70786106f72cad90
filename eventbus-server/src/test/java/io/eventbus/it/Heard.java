package io.eventbus.it;

import io.eventbus.client.ConnectionInfo;
import io.eventbus.client.ConnectionListener;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Gap;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Events of a client's listener. */
final class Heard implements ConnectionListener {
  final BlockingQueue<ConnectionInfo> connections = new LinkedBlockingQueue<>();
  final BlockingQueue<String> ends = new LinkedBlockingQueue<>();
  final Queue<Gap> gaps = new ConcurrentLinkedQueue<>();
  final Queue<EventBusException> problems = new ConcurrentLinkedQueue<>();
  final AtomicLong uncertain = new AtomicLong();

  @Override
  public void connected(ConnectionInfo connection) {
    connections.add(connection);
  }

  @Override
  public void disconnected(int code, String reason, boolean willReconnect) {
    ends.add(code + (willReconnect ? " again" : " for good"));
  }

  @Override
  public void gap(Gap gap) {
    gaps.add(gap);
  }

  @Override
  public void dropped(long events, DropCause cause) {
    if (cause == DropCause.CONNECTION_LOST) {
      uncertain.addAndGet(events);
    }
  }

  @Override
  public void problem(EventBusException problem) {
    problems.add(problem);
  }

  ConnectionInfo nextConnection() throws InterruptedException {
    ConnectionInfo info = connections.poll(60, TimeUnit.SECONDS);
    if (info == null) {
      throw new AssertionError("no connection within 60 s");
    }
    return info;
  }

  String nextEnd() throws InterruptedException {
    String end = ends.poll(60, TimeUnit.SECONDS);
    return end == null ? "none within 60 s" : end;
  }
}

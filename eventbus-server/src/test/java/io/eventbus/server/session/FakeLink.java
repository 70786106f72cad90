package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.delivery.DeliveryKind;
import io.eventbus.server.samples.SampleFrames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Connection that records all calls. */
final class FakeLink extends IdleConnection {
  @Nullable Object address;

  /** Retries scheduled for a later turn. */
  final List<Runnable> turns = new ArrayList<>();

  /** Close by the session. */
  record Closed(CloseReason reason, String message) {}

  final List<Object> sent = new ArrayList<>();
  final List<Closed> closed = new ArrayList<>();

  /** True if the queue is written before the close. */
  boolean closedWhenWritten;

  boolean local = true;

  /** True if the client has unread answers. */
  boolean full;

  boolean mayBlock = true;

  /** Bytes that wait for the client. */
  long queued;

  /** Subscription bytes of the client's address: maximum and current. */
  long addressRoom = Long.MAX_VALUE;

  long addressBytes;

  /** Filters and services that peers are told of because of the connection. */
  int interest;

  /** True if the refusal of a failed authentication is delayed. */
  boolean late;

  /** Messages of failed authentications. */
  final List<String> failures = new ArrayList<>();

  /** Credit limits of the client. */
  final List<Long> limits = new ArrayList<>();

  /** Number of calls written to the client. */
  long invokesWritten;

  /** Number of tunnel frames sent. */
  long bulk;

  /** Bytes of stored events that wait. */
  long feedBytes;

  /** True if stored events wait until they are written. */
  boolean holdsFeed;

  private Runnable feedListener = () -> {};
  private LongConsumer bulkListener = frames -> {};

  /** Maximum bytes of a call frame for which there is room. */
  int callRoom = Integer.MAX_VALUE;

  @Nullable Runnable retry;

  /** Delay that the session asked for. */
  long laterNanos;

  /** Task that waits until the client has read everything. */
  @Nullable Runnable reading;

  /** Returns the frames sent since the last call. */
  List<Object> taken() {
    List<Object> all = List.copyOf(sent);
    sent.clear();
    return all;
  }

  @Override
  public boolean isLocal() {
    return local;
  }

  @Override
  public boolean mayBlock() {
    return mayBlock;
  }

  @Override
  public void send(byte[] frame) {
    assertOpen();
    sent.addAll(SampleFrames.read(ByteBuffer.wrap(frame)));
  }

  @Override
  public void onBulkWritten(LongConsumer listener) {
    bulkListener = listener;
  }

  @Override
  public long feedBytes() {
    return feedBytes;
  }

  @Override
  public void onFeedWritten(Runnable listener) {
    feedListener = listener;
  }

  /** Writes what waits of stored events to the socket. */
  void writeFeed() {
    feedBytes = 0;
    feedListener.run();
  }

  /** Writes the waiting tunnel frames to the socket. */
  void writeBulk() {
    bulkListener.accept(bulk);
  }

  @Override
  public void send(Delivery frame) {
    assertOpen();
    bulk += frame.kind() == DeliveryKind.BULK ? 1 : 0;
    feedBytes += holdsFeed && frame.kind() == DeliveryKind.FEED ? frame.size() : 0;
    sent.addAll(SampleFrames.read(frame.frame()));
    frame.release();
  }

  @Override
  public boolean hasRoomForCall(int frameBytes) {
    return frameBytes <= callRoom;
  }

  @Override
  public long invokesWritten() {
    return invokesWritten;
  }

  @Override
  public void grant(long limit) {
    limits.add(limit);
  }

  private void assertOpen() {
    if (!closed.isEmpty()) {
      throw new AssertionError("sent after the close");
    }
  }

  @Override
  public boolean mustWait(Runnable later) {
    if (full) {
      retry = later;
    }
    return full;
  }

  @Override
  public boolean refusalMustWait(Advisory.ClientRefused refusal, String text, Runnable later) {
    failures.add(text);
    if (late) {
      retry = later;
    }
    return late;
  }

  @Override
  public void inTurn(Runnable task) {
    turns.add(task);
  }

  @Override
  public void later(Runnable again, long nanos) {
    laterNanos = nanos;
    retry = again;
  }

  @Override
  public void close(CloseReason reason, String message) {
    closed.add(new Closed(reason, message));
  }

  @Override
  public void closeWhenWritten(CloseReason reason, String message) {
    closedWhenWritten = true;
    close(reason, message);
  }

  @Override
  public void whenRead(Runnable task) {
    reading = task;
  }

  @Override
  public long bytes() {
    return queued;
  }

  @Override
  public boolean acquireSubscriptionBytes(long bytes) {
    if (bytes <= 0 || addressBytes + bytes > addressRoom) {
      return false;
    }
    addressBytes += bytes;
    return true;
  }

  @Override
  public void changeInterest(int change) {
    interest += change;
  }

  @Override
  public void releaseSubscriptionBytes(long bytes) {
    if (bytes <= 0 || bytes > addressBytes) {
      throw new AssertionError("gives back " + bytes + " of " + addressBytes);
    }
    addressBytes -= bytes;
  }

  @Override
  public boolean isExempt() {
    return address == null;
  }

  @Override
  public Object shareOf() {
    return Objects.requireNonNull(address);
  }

  @Override
  public boolean failsOften() {
    return late;
  }
}

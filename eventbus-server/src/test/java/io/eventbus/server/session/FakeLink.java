package io.eventbus.server.session;

import io.eventbus.protocol.CloseReason;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.routing.Delivery;
import io.eventbus.server.routing.DeliveryKind;
import io.eventbus.server.routing.Subscriber;
import io.eventbus.server.samples.FakeSubscriber;
import io.eventbus.server.samples.SampleFrames;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** A connection that notes what it is told. */
final class FakeLink implements ClientLink {
  @Nullable Object address;

  /** Who asked for a later turn. */
  final List<Runnable> turns = new ArrayList<>();

  /** How the session closed it. */
  record Closed(CloseReason reason, String message) {}

  final List<Object> sent = new ArrayList<>();
  final List<Closed> closed = new ArrayList<>();

  /** Whether what is queued goes out before the close. */
  boolean closedWhenWritten;

  final FakeSubscriber subscriber = new FakeSubscriber(0);

  /** Whether the client is on the bus's machine. */
  boolean local = true;

  /** Whether the client has answers to read. */
  boolean full;

  /** Whether it may hold publishers back. */
  boolean mayBlock = true;

  /** What waits for the client. */
  long queued;

  /** What the subscriptions of the client's address may take together, and take. */
  long addressRoom = Long.MAX_VALUE;

  long addressTaken;

  /** Filters and services that other buses are told of because of the connection. */
  int interest;

  /** Whether a client that could not prove who it is hears so only later. */
  boolean late;

  /** Why it could not, each time. */
  final List<String> failures = new ArrayList<>();

  /** The limits that the client has named. */
  final List<Long> limits = new ArrayList<>();

  /** How many calls were written to the client. */
  long invokesWritten;

  /** Frames of tunnels that were sent. */
  long bulk;

  private LongConsumer bulkListener = frames -> {};

  /** The longest frame of a call for which there is room. */
  int callRoom = Integer.MAX_VALUE;

  @Nullable Runnable retry;

  /** For how long the session waits. */
  long laterNanos;

  /** Who waits until the client has read what was sent. */
  @Nullable Runnable reading;

  /** What was sent since the last call. */
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
  public void sendLast(byte[] frame) {
    send(frame);
  }

  @Override
  public void onBulkWritten(LongConsumer listener) {
    bulkListener = listener;
  }

  /** What waits of tunnels is given to the socket. */
  void writeBulk() {
    bulkListener.accept(bulk);
  }

  @Override
  public void send(Delivery frame) {
    assertOpen();
    bulk += frame.kind() == DeliveryKind.BULK ? 1 : 0;
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
  public void nextTurn(Runnable retry) {
    turns.add(retry);
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
  public Subscriber subscriber() {
    return subscriber;
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public long queuedBytes() {
    return queued;
  }

  @Override
  public long delivered() {
    return 0;
  }

  @Override
  public long dropped() {
    return 0;
  }

  @Override
  public boolean acquireSubscriptionBytes(long bytes) {
    if (bytes <= 0 || addressTaken + bytes > addressRoom) {
      return false;
    }
    addressTaken += bytes;
    return true;
  }

  @Override
  public void changeInterest(int change) {
    interest += change;
  }

  @Override
  public void releaseSubscriptionBytes(long bytes) {
    if (bytes <= 0 || bytes > addressTaken) {
      throw new AssertionError("gives back " + bytes + " of " + addressTaken);
    }
    addressTaken -= bytes;
  }

  @Override
  public String remoteAddress() {
    return "test";
  }

  @Override
  public @Nullable Object addressShare() {
    return address;
  }

  @Override
  public boolean failsOften() {
    return late;
  }
}

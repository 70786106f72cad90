package io.eventbus.loadtest.driver;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Journal without a disk: the publisher's thread stores and confirms. */
public class MemoryJournal implements DriverJournal {
  private final List<byte[]> events = new ArrayList<>();

  @Override
  public void publish(byte[] payload, Outcome outcome) {
    outcome.ended(store(payload), null);
  }

  /** Stores an event and returns its position. */
  protected final long store(byte[] payload) {
    synchronized (events) {
      events.add(payload);
      return events.size();
    }
  }

  private byte @Nullable [] at(long position) {
    synchronized (events) {
      return position > events.size() ? null : events.get((int) position - 1);
    }
  }

  @Override
  public Driver.Subscriber read(long from, Driver.Receiver receiver) {
    Thread thread = new Thread(() -> read(receiver, from), "reader");
    thread.start();
    return new Driver.Subscriber() {
      @Override
      public long reportedLost() {
        return 0;
      }

      @Override
      public void close() {
        thread.interrupt();
      }
    };
  }

  private void read(Driver.Receiver receiver, long from) {
    long position = from;
    while (!Thread.currentThread().isInterrupted()) {
      byte[] payload = at(position);
      if (payload == null) {
        Thread.onSpinWait();
      } else {
        receiver.onEvent(ByteBuffer.wrap(payload));
        position++;
      }
    }
  }

  @Override
  public void close() {}
}

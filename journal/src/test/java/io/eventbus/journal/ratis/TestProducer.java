package io.eventbus.journal.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.journal.AppendListener;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.journal.RecordResult;
import io.eventbus.journal.RecordResult.Published;
import io.eventbus.journal.ratis.TestShards.Read;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Producer that publishes frames of one event each, its numbers from 1 on, with many under way; it
 * ends at the first answer that is no acceptance.
 */
final class TestProducer implements Runnable {
  private static final int WINDOW = 32;

  private final Journals journals;
  private final int journal;
  private final String name;
  private final int count;
  private final Semaphore window = new Semaphore(WINDOW);
  private final CountDownLatch some;
  private final Map<Long, Long> confirmed = new LinkedHashMap<>();
  private final List<Object> others = new ArrayList<>();
  private int answers;
  private long sent;

  /**
   * Creates a producer.
   *
   * @param some counted down once when a part has been confirmed
   */
  TestProducer(Journals journals, int journal, String name, int count, CountDownLatch some) {
    this.journals = journals;
    this.journal = journal;
    this.name = name;
    this.count = count;
    this.some = some;
  }

  @Override
  public void run() {
    try {
      while (sent < count && !hasFailed()) {
        assertThat(window.tryAcquire(150, TimeUnit.SECONDS)).as("an answer").isTrue();
        publish(sent + 1);
        sent++;
      }
      assertThat(window.tryAcquire(WINDOW, 150, TimeUnit.SECONDS)).as("all answers").isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void publish(long sequence) throws InterruptedException {
    Listener listener = new Listener(sequence);
    while (!journals.append(
        TestShards.head(journal, "t." + name, name, sequence),
        TestShards.events(sequence, 1, 40),
        listener)) {
      CountDownLatch room = new CountDownLatch(1);
      journals.whenRoom(room::countDown);
      assertThat(room.await(150, TimeUnit.SECONDS)).as("room").isTrue();
    }
  }

  private final class Listener implements AppendListener {
    private final long sequence;
    private boolean told;

    Listener(long sequence) {
      this.sequence = sequence;
    }

    @Override
    public void completed(RecordResult result) {
      answered(result);
    }

    @Override
    public void unavailable(JournalsUnavailableException cause) {
      answered(cause);
    }

    private void answered(Object answer) {
      synchronized (TestProducer.this) {
        assertThat(told).as("the first answer").isFalse();
        told = true;
        answers++;
        if (answer instanceof Published published) {
          confirmed.put(sequence, published.position());
        } else {
          others.add(answer);
        }
      }
      if (sequence == count / 4) {
        some.countDown();
      }
      window.release();
    }
  }

  private synchronized boolean hasFailed() {
    return !others.isEmpty();
  }

  String topic() {
    return "t." + name;
  }

  /** Returns the numbers of the events that were confirmed, in the order of the answers. */
  synchronized List<Long> confirmed() {
    return List.copyOf(confirmed.keySet());
  }

  /** Checks that events have the positions that were confirmed. */
  synchronized void assertPositions(List<Read> all) {
    for (Read read : all) {
      if (read.topic().equals(topic())) {
        // A repetition of long ago is confirmed without its position.
        assertThat(confirmed.getOrDefault(read.number(), 0L))
            .as("position of %s", read)
            .isIn(0L, read.position());
      }
    }
  }

  /** Returns the answers that were no acceptance. */
  synchronized List<Object> others() {
    return List.copyOf(others);
  }

  /** Returns whether each publication was answered. */
  synchronized boolean isAnswered() {
    return answers == sent;
  }
}

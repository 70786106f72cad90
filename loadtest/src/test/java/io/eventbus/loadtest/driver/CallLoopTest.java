package io.eventbus.loadtest.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.loadtest.driver.DriverCalls.Counts;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CallLoopTest {
  private static final class Asked {
    private final byte[] payload;
    private final CompletableFuture<byte[]> answer = new CompletableFuture<>();

    Asked(byte[] payload) {
      this.payload = payload;
    }

    byte[] payload() {
      return payload;
    }

    CompletableFuture<byte[]> answer() {
      return answer;
    }
  }

  private final BlockingQueue<Asked> asked = new LinkedBlockingQueue<>();

  private CallLoop loop(int places) {
    return new CallLoop(places, 64)
        .with(
            payload -> {
              Asked next = new Asked(payload);
              asked.add(next);
              return next.answer();
            });
  }

  private Asked next() throws InterruptedException {
    Asked next = asked.poll(60, TimeUnit.SECONDS);
    assertThat(next).isNotNull();
    return next;
  }

  /** Answers what still comes, so that the loop can stop. */
  private Counts stop(CallLoop loop) throws InterruptedException {
    Thread answers =
        new Thread(
            () -> {
              try {
                while (true) {
                  Asked left = asked.take();
                  left.answer().complete(left.payload());
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    answers.start();
    loop.stop();
    answers.interrupt();
    answers.join();
    return loop.counts();
  }

  @Test
  void callsAgainWhenACallHasEndedAndNotBefore() throws Exception {
    CallLoop loop = loop(2);
    loop.start();
    Asked first = next();
    next();
    assertThat(loop.counts().called()).isEqualTo(2);
    first.answer().complete(first.payload());
    Asked third = next();
    assertThat(third.payload()).isNotEqualTo(first.payload());
    assertThat(loop.counts()).isEqualTo(new Counts(3, 1, 0, 0, 0, ""));
    third.answer().complete(third.payload());
    loop.close();
  }

  @Test
  void failureIsCountedAndNamed() throws Exception {
    CallLoop loop = loop(1);
    loop.start();
    next().answer().completeExceptionally(new TimeoutException("late"));
    Counts counts = stop(loop);
    assertThat(counts.failed()).isEqualTo(1);
    assertThat(counts.failure()).contains("late");
  }

  @Test
  void answerOfAnotherCallIsForeign() throws Exception {
    CallLoop loop = loop(1);
    loop.start();
    next().answer().complete(new byte[64]);
    assertThat(stop(loop).foreign()).isEqualTo(1);
  }

  @Test
  void requestThatComesTwiceIsDoubled() throws Exception {
    CallLoop loop = loop(1);
    loop.start();
    Asked first = next();
    loop.serve(first.payload());
    loop.serve(first.payload());
    first.answer().complete(first.payload());
    assertThat(stop(loop).doubled()).isEqualTo(1);
  }

  @Test
  void latencyIsThatOfTheMeasuredPart() throws Exception {
    CallLoop loop = loop(1);
    loop.start();
    Asked before = next();
    loop.measure();
    before.answer().complete(before.payload());
    Asked measured = next();
    measured.answer().complete(measured.payload());
    // The next call has begun, and so the one before it is recorded.
    Asked last = next();
    loop.close();
    last.answer().completeExceptionally(new TimeoutException());
    Counts unused = stop(loop);
    assertThat(loop.stop().getTotalCount()).isEqualTo(1);
  }
}

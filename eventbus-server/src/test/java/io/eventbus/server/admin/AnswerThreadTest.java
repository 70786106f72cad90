package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.eventbus.server.admission.ClientAddress;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AnswerThreadTest {
  private final AnswerThread answers = new AnswerThread();
  private final List<String> done = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch mayGoOn = new CountDownLatch(1);
  private final CountDownLatch runs = new CountDownLatch(1);

  @AfterEach
  void close() {
    mayGoOn.countDown();
    answers.close();
  }

  private static ClientAddress address(int host) throws Exception {
    return ClientAddress.of(
        InetAddress.getByAddress(new byte[] {10, 0, (byte) (host >> 8), (byte) host}));
  }

  /** Keeps the thread busy until {@link #mayGoOn}. */
  private void occupy() throws Exception {
    answers.execute(
        address(0),
        () -> {
          runs.countDown();
          try {
            mayGoOn.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    assertThat(runs.await(10, TimeUnit.SECONDS)).isTrue();
  }

  private void finish() throws Exception {
    mayGoOn.countDown();
    CountDownLatch last = new CountDownLatch(1);
    answers.execute(address(0), last::countDown);
    assertThat(last.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aCrowdOfOneAddressDelaysAnotherByOneAnswer() throws Exception {
    occupy();
    for (int i = 0; i < 5; i++) {
      String name = "crowd " + i;
      answers.execute(address(1), () -> done.add(name));
    }
    answers.execute(address(2), () -> done.add("other"));
    assertThat(done).as("one at a time").isEmpty();
    finish();
    assertThat(done).startsWith("crowd 0", "other", "crowd 1").doesNotHaveDuplicates();
  }

  @Test
  void anAddressHasItsShareOfThePlaces() throws Exception {
    occupy();
    for (int i = 0; i < AnswerThread.MAX_OF_ADDRESS; i++) {
      answers.execute(address(1), () -> done.add(""));
    }
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> answers.execute(address(1), () -> done.add("")))
        .withMessageContaining("of an address");
    answers.execute(address(2), () -> done.add(""));
    for (int i = done.size() + AnswerThread.MAX_OF_ADDRESS + 1; i < AnswerThread.MAX_WAITING; i++) {
      answers.execute(address(i), () -> done.add(""));
    }
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> answers.execute(address(3_000), () -> done.add("")));
    mayGoOn.countDown();
  }
}

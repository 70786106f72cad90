package io.eventbus.server.security.users;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.server.security.Origin.Standing;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class PasswordQueueTest {
  private final PasswordQueue queue = new PasswordQueue(1);
  private final CountDownLatch released = new CountDownLatch(1);

  @AfterEach
  void close() {
    released.countDown();
    queue.close();
  }

  /** Keeps the only thread busy until it is released. */
  private void occupy() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    queue.add(
        Standing.UNKNOWN,
        () -> {
          held.countDown();
          try {
            released.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void betterStandingIsCheckedFirstAndHasRoomOfItsOwn() throws Exception {
    List<String> order = new CopyOnWriteArrayList<>();
    CountDownLatch done = new CountDownLatch(PasswordQueue.MAX_WAITING + 3);
    occupy();
    for (int i = 0; i < PasswordQueue.MAX_WAITING; i++) {
      assertThat(queue.add(Standing.FAILED, () -> check(order, "failed", done))).isTrue();
    }
    assertThat(queue.add(Standing.FAILED, () -> {})).isFalse();
    assertThat(queue.add(Standing.UNKNOWN, () -> check(order, "1", done))).isTrue();
    assertThat(queue.add(Standing.UNKNOWN, () -> check(order, "2", done))).isTrue();
    assertThat(queue.add(Standing.PROVED, () -> check(order, "proved", done))).isTrue();
    released.countDown();
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(order).startsWith("proved", "1", "2", "failed");
  }

  private static void check(List<String> order, String name, CountDownLatch done) {
    order.add(name);
    done.countDown();
  }

  @Test
  void removedChecksDoNotRunAndNoneRunsAfterTheEnd() throws Exception {
    List<String> order = new CopyOnWriteArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    Runnable gone = () -> order.add("gone");
    occupy();
    queue.add(Standing.UNKNOWN, gone);
    queue.add(Standing.UNKNOWN, () -> check(order, "stays", done));
    assertThat(queue.remove(Standing.UNKNOWN, gone)).isTrue();
    assertThat(queue.remove(Standing.UNKNOWN, gone)).isFalse();
    assertThat(queue.size()).isEqualTo(1);
    released.countDown();
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    assertThat(order).containsExactly("stays");
    queue.close();
    assertThat(queue.add(Standing.UNKNOWN, gone)).isFalse();
  }
}

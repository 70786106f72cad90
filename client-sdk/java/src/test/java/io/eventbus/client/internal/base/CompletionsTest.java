package io.eventbus.client.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class CompletionsTest {
  private static final int TIMEOUT = 3;

  private final Queue<Runnable> given = new ArrayDeque<>();
  private final Completions completions = new Completions(given::add);
  private final List<Integer> done = new ArrayList<>();

  private void run() {
    for (Runnable next = given.poll(); next != null; next = given.poll()) {
      next.run();
    }
  }

  @Test
  void stagesAreCompletedInTheOrderInWhichTheyWereAdded() {
    completions.addOne(() -> done.add(1));
    completions.addOne(() -> done.add(2));
    assertThat(given).hasSize(1);
    run();
    assertThat(done).containsExactly(1, 2);
    assertThat(completions.isIdle()).isTrue();
    completions.addOne(() -> done.add(3));
    run();
    assertThat(done).containsExactly(1, 2, 3);
  }

  @Test
  void aStageThatThrowsDoesNotKeepTheOthers() {
    completions.addOne(
        () -> {
          throw new IllegalStateException("on purpose");
        });
    completions.addOne(() -> done.add(2));
    run();
    assertThat(done).containsExactly(2);
  }

  @Test
  void replacesABlockedThreadWhichDoesNothingMoreAfterwards() {
    completions.addOne(
        () -> {
          // As if this thread were blocked here.
          completions.look(TIMEOUT);
          completions.look(TIMEOUT);
          given.remove().run();
          assertThat(done).containsExactly(2);
          completions.addOne(() -> done.add(3));
          done.add(1);
        });
    completions.addOne(() -> done.add(2));
    given.remove().run();
    assertThat(done).containsExactly(2, 1);
    run();
    assertThat(done).containsExactly(2, 1, 3);
    assertThat(completions.isIdle()).isTrue();
  }

  @Test
  void theRestOfStagesThatBelongTogetherIsCompletedByTheNext() {
    int[] next = {0};
    completions.add(
        () -> {
          int number = ++next[0];
          if (number == 1) {
            completions.look(TIMEOUT);
            completions.look(TIMEOUT);
            given.remove().run();
          }
          done.add(number);
          return number < 3;
        });
    given.remove().run();
    assertThat(done).containsExactly(2, 3, 1);
  }

  @Test
  void doesNotReplaceAThreadThatMakesProgress() {
    completions.addOne(() -> completions.look(TIMEOUT));
    completions.addOne(() -> completions.look(TIMEOUT));
    completions.addOne(() -> completions.look(TIMEOUT));
    given.remove().run();
    assertThat(given).isEmpty();
  }

  @Test
  void anExecutorThatRunsNothingIsWaitedForAndThenNotUsed() throws Exception {
    LinkedBlockingQueue<String> threads = new LinkedBlockingQueue<>();
    completions.addOne(() -> threads.add(Thread.currentThread().getName()));
    for (int look = 0; look < TIMEOUT; look++) {
      completions.look(TIMEOUT);
      assertThat(given).hasSize(1);
    }
    assertThat(threads).isEmpty();
    completions.look(TIMEOUT);
    assertThat(threads.poll(60, TimeUnit.SECONDS)).isEqualTo("eventbus-completions");
    run();
    assertThat(threads).isEmpty();
  }

  @Test
  void anExecutorThatRefusesIsDoneWithout() throws Exception {
    CountDownLatch completed = new CountDownLatch(1);
    new Completions(
            task -> {
              throw new RejectedExecutionException("on purpose");
            })
        .addOne(completed::countDown);
    assertThat(completed.await(60, TimeUnit.SECONDS)).isTrue();
  }
}

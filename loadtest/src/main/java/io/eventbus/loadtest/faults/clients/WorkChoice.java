package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.WorkDelivery;
import io.eventbus.loadtest.faults.history.WorkQueue.Answer;
import io.eventbus.loadtest.faults.history.WorkQueue.Outcome;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Settlement of a delivery in a way of chance. */
record WorkChoice(
    Recorder recorder, Random random, OpenQueue.OpenWork work, WorkDelivery delivery) {
  private static final int MAX_DELAY_MILLIS = 2_000;

  /** Times until the next delivery after a failure, as documented; later ones are too long here. */
  private static final long[] BACKOFF_SECONDS = {1, 5};

  /**
   * Settles.
   *
   * @param mayFail whether in other ways than done, too
   * @param letsPass whether it may let the ack timeout pass
   * @throws IllegalStateException to fail
   */
  void settle(boolean mayFail, boolean letsPass) {
    int chance = mayFail ? random.nextInt(100) : random.nextInt(70);
    if (chance < 50) {
      // The return of the handler settles it.
      settles(Outcome.DONE, 0);
    } else if (chance < 70) {
      settles(Outcome.DONE, 0);
      var unused = delivery.doneConfirmed().whenComplete((done, why) -> work.answered(answer(why)));
    } else if (chance < 77 && delivery.attempt() <= BACKOFF_SECONDS.length) {
      long seconds = BACKOFF_SECONDS[delivery.attempt() - 1];
      settles(Outcome.RETRY, TimeUnit.SECONDS.toNanos(seconds));
      throw new IllegalStateException("failed by chance");
    } else if (chance < 85) {
      Duration delay = Duration.ofMillis(random.nextInt(MAX_DELAY_MILLIS));
      settles(Outcome.RETRY, delay.toNanos());
      delivery.retry(delay);
    } else if (chance < 87) {
      settles(Outcome.REJECT, 0);
      delivery.reject("rejected by chance");
    } else if (chance < 95 || !letsPass) {
      settles(Outcome.RELEASE, 0);
      delivery.release();
    } else {
      delivery.defer();
    }
  }

  private void settles(Outcome outcome, long delayNanos) {
    work.settles(outcome, recorder.now(), delayNanos);
  }

  private static Answer answer(@Nullable Throwable failure) {
    if (failure == null) {
      return Answer.CONFIRMED;
    }
    Throwable why =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return why instanceof EventBusException.Refused refused
            && refused.code() == ErrorCode.UNKNOWN_SUBSCRIPTION
        ? Answer.REFUSED
        : Answer.UNKNOWN;
  }
}

package io.eventbus.client.internal.connection;

import io.eventbus.client.EventBusException;
import io.eventbus.client.TokenSupplier;
import io.eventbus.client.internal.base.Scheduler;
import io.eventbus.protocol.DurationText;
import io.eventbus.protocol.FrameLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Source of a client's tokens. Confined to the conductor. */
final class TokenSource {
  /** Callback for the result of a question; called once, on the conductor. */
  interface Taker {
    /** Called with a token, or null for a client that has none. */
    void got(@Nullable String token);

    /** Called when there is no token now. */
    void failed(EventBusException why);
  }

  private final @Nullable String fixed;
  private final @Nullable TokenSupplier supplier;
  private final Executor executor;
  private final Scheduler conductor;

  /**
   * Creates a source.
   *
   * @param fixed the token of a client without a supplier, or null
   * @param supplier the application's, or null
   * @param executor runs the supplier; it may block there
   */
  TokenSource(
      @Nullable String fixed,
      @Nullable TokenSupplier supplier,
      Executor executor,
      Scheduler conductor) {
    this.fixed = fixed;
    this.supplier = supplier;
    this.executor = executor;
    this.conductor = conductor;
  }

  /** Returns whether asking again may yield another token. */
  boolean hasNew() {
    return supplier != null;
  }

  /** Asks for a token; without a supplier the answer comes at once. */
  void ask(Duration timeout, Taker taker) {
    TokenSupplier asked = supplier;
    if (asked == null) {
      taker.got(fixed);
      return;
    }
    new Question(taker, timeout).ask(asked);
  }

  private final class Question {
    private final Taker taker;
    private final Scheduler.Timer deadline;
    private boolean answered;

    Question(Taker taker, Duration timeout) {
      this.taker = taker;
      this.deadline =
          conductor.schedule(
              () ->
                  end(
                      null,
                      new EventBusException.TimedOut(
                          "the supplier of tokens gave none within " + DurationText.of(timeout))),
              timeout.toNanos());
    }

    void ask(TokenSupplier asked) {
      try {
        executor.execute(
            () -> {
              try {
                begin(asked);
              } catch (RuntimeException | Error e) {
                answer(null, e);
              }
            });
      } catch (RuntimeException e) {
        // Rejected: the executor is the application's.
        answer(null, e);
      }
    }

    @SuppressWarnings("FutureReturnValueIgnored")
    private void begin(TokenSupplier asked) {
      CompletionStage<String> stage = asked.token();
      stage.whenComplete(this::answer);
    }

    private void answer(@Nullable String token, @Nullable Throwable failure) {
      conductor.execute(() -> end(token, failure == null ? problem(token) : failed(failure)));
    }

    private void end(@Nullable String token, @Nullable EventBusException failure) {
      if (answered) {
        return;
      }
      answered = true;
      deadline.cancel();
      if (failure == null) {
        taker.got(token);
      } else {
        taker.failed(failure);
      }
    }
  }

  private static EventBusException failed(Throwable failure) {
    Throwable cause = failure.getCause();
    Throwable shown = failure instanceof CompletionException && cause != null ? cause : failure;
    return new EventBusException.NoToken("the supplier of tokens failed: " + shown, shown);
  }

  private static @Nullable EventBusException problem(@Nullable String token) {
    int bytes = token == null ? 0 : token.getBytes(StandardCharsets.UTF_8).length;
    return bytes >= 1 && bytes <= FrameLimits.MAX_TOKEN_BYTES
        ? null
        : new EventBusException.NoToken(
            "the supplier of tokens gave "
                + (token == null ? "null" : "one of " + bytes + " bytes")
                + " (expected: 1 to "
                + FrameLimits.MAX_TOKEN_BYTES
                + " bytes)",
            null);
  }
}

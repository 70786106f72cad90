package io.eventbus.cli.client;

import io.eventbus.cli.console.BrokenPipe;
import io.eventbus.cli.console.CliContext;
import io.eventbus.cli.console.CliFailure;
import io.eventbus.cli.console.ExitCode;
import io.eventbus.cli.console.Text;
import io.eventbus.client.Answer;
import io.eventbus.client.EventBusException.CallFailed;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;

/** Writes the answers of all members of a service as they come. Used once. */
final class GatherOutput implements Flow.Subscriber<Answer> {
  private final CliContext context;
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private int replies;
  private int failures;

  GatherOutput(CliContext context) {
    this.context = context;
  }

  /** Waits for the last answer; returns the command's exit code. */
  int run(Flow.Publisher<Answer> answers) {
    answers.subscribe(this);
    try {
      // The request has a deadline.
      end.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof CallFailed failure) {
        throw new CliFailure(
            RequestCommand.exitCode(failure), RequestCommand.describe(failure), failure);
      }
      if (e.getCause() instanceof BrokenPipe gone) {
        throw gone;
      }
      throw e;
    }
    context.err().println("eventbus: " + replies + " replied, " + failures + " failed");
    return failures == 0 ? ExitCode.OK : ExitCode.FAILED;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(Answer answer) {
    try {
      write(answer);
    } catch (BrokenPipe e) {
      end.completeExceptionally(e);
      throw e;
    }
  }

  private void write(Answer answer) {
    if (answer instanceof Answer.Replied replied) {
      replies++;
      byte[] payload = replied.response().event().payload();
      String text = Text.utf8(ByteBuffer.wrap(payload));
      String shown = text == null ? "0x" + HexFormat.of().formatHex(payload) : Text.printable(text);
      context.out().line(number(answer) + "  " + shown);
    } else if (answer instanceof Answer.Failed failed) {
      failures++;
      context
          .err()
          .println(
              "eventbus: " + number(answer) + ": " + RequestCommand.describe(failed.failure()));
    }
  }

  private static String number(Answer answer) {
    return Long.toString(answer.member());
  }

  @Override
  public void onError(Throwable failure) {
    end.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    end.complete(null);
  }
}

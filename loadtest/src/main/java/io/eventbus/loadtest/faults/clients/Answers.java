package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ErrorCode;
import io.eventbus.client.EventBusException;
import io.eventbus.client.Published;
import io.eventbus.loadtest.faults.history.PublishAnswer;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Meaning of what the SDK says of a publication. */
final class Answers {
  /** Codes after which the event may be stored all the same. */
  private static final Set<ErrorCode> UNKNOWN =
      Set.of(ErrorCode.UNAVAILABLE, ErrorCode.SEQUENCE_GAP, ErrorCode.INTERNAL);

  private Answers() {}

  static PublishAnswer of(@Nullable Published published, @Nullable Throwable failure) {
    if (published != null) {
      return new PublishAnswer.Stored(published.position());
    }
    Throwable why =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (why instanceof EventBusException.Refused refused) {
      return UNKNOWN.contains(refused.code())
          ? new PublishAnswer.Unknown(refused.code().name())
          : new PublishAnswer.Refused(refused.code().name());
    }
    if (why instanceof EventBusException.BufferFull) {
      return new PublishAnswer.Refused("BufferFull");
    }
    return new PublishAnswer.Unknown(why == null ? "nothing" : why.getClass().getSimpleName());
  }
}

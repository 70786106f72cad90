package io.eventbus.journal;

/** Publisher that waits for the result. Called once, on a thread that must not wait. */
public interface AppendListener {
  /** Takes the result: {@link RecordResult.Published} or {@link RecordResult.Refused}. */
  void completed(RecordResult result);

  /** Takes note that the result is not known: the events may be stored, or may be later. */
  void unavailable(JournalsUnavailableException cause);
}

package io.eventbus.server.session;

import io.eventbus.journal.CursorView;
import io.eventbus.journal.JournalFigures;
import io.eventbus.journal.JournalNames;
import io.eventbus.journal.Journals;
import io.eventbus.journal.JournalsUnavailableException;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.Topic;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Ask;
import io.eventbus.schema.ErrorCode;
import io.eventbus.schema.Problem;
import io.eventbus.schema.Told;
import io.eventbus.server.admission.AddressLimits;
import io.eventbus.server.durable.JournalConsumers;
import io.eventbus.server.durable.JournalInfo;
import io.eventbus.server.security.Action;
import io.eventbus.server.security.Permissions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Questions of one session about journals. Confined to the loop. */
final class JournalQuestions {
  /** Maximum number of questions that wait for their answer. */
  static final int MAX_OPEN = 16;

  private final JournalConsumers all;
  private final ConnectionControl connection;
  private final Session session;
  private final AddressLimits address;
  private int open;

  JournalQuestions(
      JournalConsumers all, ConnectionControl connection, Session session, AddressLimits address) {
    this.all = all;
    this.connection = connection;
    this.session = session;
    this.address = address;
  }

  /** Answers a question, when the disk has. */
  void ask(Ask question) {
    if (open == MAX_OPEN) {
      refuse(
          ErrorCode.LIMIT_EXCEEDED,
          MAX_OPEN + " questions wait for their answer (expected: at most " + MAX_OPEN + ")",
          question);
      return;
    }
    JournalInfo journal = find(question);
    if (journal == null) {
      refuse(
          ErrorCode.NO_JOURNAL,
          question.getJournal().isEmpty()
              ? "topic '" + question.getTopic() + "' is not durable (expected: a durable one)"
              : "there is no journal "
                  + question.getJournal()
                  + " (expected: one that an operator has created)",
          question);
      return;
    }
    if (!isAllowed(question, journal)) {
      refuse(
          ErrorCode.FORBIDDEN,
          "to ask about "
              + (question.getTopic().isEmpty()
                  ? "journal " + journal.name().name()
                  : "topic '" + question.getTopic() + "'")
              + " is not allowed to this client ("
              + session.principal().permissions().of(Action.SUBSCRIBE).origin()
              + "; expected: what it may subscribe to)",
          question);
      return;
    }
    open++;
    all.ask(
        address.shareOf(),
        journals -> answer(journals, journal, question),
        failure -> unavailable(String.valueOf(failure.getMessage()), question));
  }

  private @Nullable JournalInfo find(Ask question) {
    String account = session.principal().account();
    if (!question.getJournal().isEmpty()) {
      return JournalNames.problem(question.getJournal()) == null
          ? all.find(account, question.getJournal())
          : null;
    }
    if (Topic.problem(question.getTopic()) != null) {
      return null;
    }
    List<JournalInfo> found = all.find(account, TopicFilter.parse(question.getTopic()), 1);
    return found.isEmpty() ? null : found.get(0);
  }

  private boolean isAllowed(Ask question, JournalInfo journal) {
    Permissions permissions = session.principal().permissions();
    String topic = question.getTopic();
    if (topic.isEmpty()) {
      return journal.filters().stream().anyMatch(permissions.of(Action.SUBSCRIBE)::allows)
          || session.consumers().reads(journal.number());
    }
    // Publishers ask for what they expect.
    return permissions.of(Action.SUBSCRIBE).allows(topic)
        || permissions.of(Action.PUBLISH).allows(topic);
  }

  /** Answers on a thread that may wait for the disk. */
  private void answer(Journals journals, JournalInfo journal, Ask question) {
    try {
      JournalFigures figures = journals.figures(journal.number());
      if (figures == null) {
        Problem gone =
            problem(
                ErrorCode.NO_JOURNAL,
                "journal " + journal.name().name() + " is deleted (expected: one that is there)",
                false,
                question);
        connection.execute(() -> answered(gone));
        return;
      }
      CursorView cursor =
          JournalNames.problem(question.getName()) == null
              ? journals.cursor(journal.number(), question.getName())
              : null;
      Told told =
          new Told(
              question.getId(),
              journal.name().name(),
              figures.firstPosition(),
              figures.lastPosition(),
              question.getTopic().isEmpty()
                  ? 0L
                  : journals.lastOfTopic(journal.number(), question.getTopic()),
              question.getTime() == 0
                  ? 0L
                  : Math.max(1, journals.positionAt(journal.number(), question.getTime() / 1000)),
              cursor == null ? -1L : cursor.floor());
      connection.execute(() -> answered(told));
    } catch (JournalsUnavailableException e) {
      unavailable(String.valueOf(e.getMessage()), question);
    } catch (RuntimeException e) {
      unavailable("the journal cannot be read", question);
      throw e;
    }
  }

  private void unavailable(String message, Ask question) {
    Problem later = problem(ErrorCode.UNAVAILABLE, message, true, question);
    connection.execute(() -> answered(later));
  }

  private void answered(Told told) {
    open--;
    if (session.isOpen()) {
      session.out().send(ControlFrames.encode(TypeCode.TOLD, told));
    }
  }

  private void answered(Problem problem) {
    open--;
    if (session.isOpen()) {
      session.sendProblem(problem);
    }
  }

  private static Problem problem(ErrorCode code, String message, boolean retryable, Ask question) {
    return new Problem(code, message, retryable, question.getId(), TypeCode.ASK.code(), "");
  }

  private void refuse(ErrorCode code, String message, Ask question) {
    session.refuse(code, message, question.getId(), TypeCode.ASK.code(), "");
  }
}

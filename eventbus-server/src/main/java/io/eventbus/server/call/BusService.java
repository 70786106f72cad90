package io.eventbus.server.call;

import io.eventbus.schema.FailureCode;

/**
 * What answers the requests to the bus itself.
 *
 * <p>An implementation is called on event loops: it must not block and must not throw. It answers
 * each question exactly once, within a bounded time, on any thread, perhaps at once.
 */
@FunctionalInterface
public interface BusService {
  /** The method that lists services; its argument is the name after which to go on, or empty. */
  String ALL = "services";

  /** The method that tells of one service, whose name is the argument. */
  String ONE = "service";

  /** For a bus of which nothing can be asked. */
  BusService NONE =
      (account, method, argument, answer) ->
          answer.fail(FailureCode.UNKNOWN_METHOD, "nothing can be asked of this bus");

  /** Gets what comes of a question. Any thread. */
  interface Answer {
    /**
     * There is an answer.
     *
     * @param json not changed afterwards
     */
    void reply(byte[] json);

    /** There is none. */
    void fail(FailureCode code, String message);
  }

  /** Asks something. */
  void ask(String account, String method, String argument, Answer answer);
}

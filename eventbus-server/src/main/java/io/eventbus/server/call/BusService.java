package io.eventbus.server.call;

import io.eventbus.schema.FailureCode;

/**
 * Responder to the requests to the bus itself.
 *
 * <p>An implementation is called on event loops: it must not block and must not throw. It answers
 * each query exactly once, within a bounded time, on any thread, perhaps at once.
 */
@FunctionalInterface
public interface BusService {
  /**
   * Method that lists services; its argument is the name after which the list continues, or empty.
   */
  String ALL = "services";

  /** Method that describes the service named by the argument. */
  String ONE = "service";

  /** Responder of a bus that answers no queries. */
  BusService NONE =
      (account, method, argument, answer) ->
          answer.fail(FailureCode.UNKNOWN_METHOD, "this bus answers no queries");

  /** Receiver of the answer to a query. Any thread. */
  interface Answer {
    /**
     * Receives an answer.
     *
     * @param json not changed afterwards
     */
    void reply(byte[] json);

    /** Receives a failure. */
    void fail(FailureCode code, String message);
  }

  /** Answers a query. */
  void ask(String account, String method, String argument, Answer answer);
}

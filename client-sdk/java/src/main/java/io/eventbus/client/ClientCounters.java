package io.eventbus.client;

/**
 * Counts of a client since it was created; a snapshot whose parts are not taken at exactly the same
 * moment.
 *
 * @param published events accepted for sending
 * @param confirmed events that the bus confirmed
 * @param resent events that were sent again after a reconnect
 * @param droppedFull events dropped because the outbound buffer was full
 * @param indeterminate events without confirmation that were under way when a connection ended
 * @param messagesSent WebSocket messages with events; {@code published / messagesSent} is the mean
 *     batch
 * @param received events received, without duplicates, counted once for all subscriptions
 * @param duplicates events received again and dropped
 * @param missing events told as a {@link Gap}
 * @param handlerFailures exceptions thrown by handlers
 * @param reconnects connections made after the first
 * @param busChanges times that the client went on at another bus because its bus asked it to
 * @param abandonedSubscriptions subscriptions that were ended because the application's executor
 *     would not run their handlers
 * @param publishedTopics topics that the client remembers because it has published to them: at most
 *     50,000 that are quiet
 * @param bufferedBytes bytes in the outbound buffer now: not yet sent, or sent and unconfirmed
 */
public record ClientCounters(
    long published,
    long confirmed,
    long resent,
    long droppedFull,
    long indeterminate,
    long messagesSent,
    long received,
    long duplicates,
    long missing,
    long handlerFailures,
    long reconnects,
    long busChanges,
    long abandonedSubscriptions,
    long publishedTopics,
    long bufferedBytes) {}

package io.eventbus.journal;

/**
 * Consumer of a shared cursor.
 *
 * @param epoch its number, which no other consumer of a cursor of the journal had
 * @param owner text that names the process of a bus
 * @param events how many events it has taken and not settled; of a key-shared cursor, of how many
 *     slots it has events that are not settled
 * @param oldest position of the first of these; 0 if there are none
 */
public record ConsumerView(long epoch, String owner, int events, long oldest) {}

/**
 * Durable topics: the port {@link io.eventbus.journal.Journals}, what journals keep, and the
 * answers to what is asked of them. A journal is one totally ordered log of the events of its
 * topics; each event has a position in it, dense from 1.
 */
package io.eventbus.journal;

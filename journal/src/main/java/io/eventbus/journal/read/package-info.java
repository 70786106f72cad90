/**
 * Reading a journal from a position on, and finding positions. Readers see what is committed, and
 * are told of every position whose event they do not get.
 */
package io.eventbus.journal.read;

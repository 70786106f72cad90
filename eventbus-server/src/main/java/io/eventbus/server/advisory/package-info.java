/**
 * Events on a bus that operators may want to be told at once: reported by the parts where they
 * happen, which do not know their receivers.
 */
package io.eventbus.server.advisory;

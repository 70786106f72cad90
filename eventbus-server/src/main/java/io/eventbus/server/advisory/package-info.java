/**
 * What happens on a bus that operators may want to be told at once: told by the parts where it
 * happens, which do not know what becomes of it.
 */
package io.eventbus.server.advisory;

/** Real buses in the kit's own process, and a bad network in front of them. */
package io.eventbus.conformance.live;

/**
 * Parts that links, the registry and the bus share: pauses between attempts, rates, bounded logs,
 * refused memory. It knows none of them.
 */
package io.eventbus.base;

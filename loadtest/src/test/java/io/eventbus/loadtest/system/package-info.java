/**
 * Whole buses as processes of their own, killed and started again. What clients see is compared
 * with what was promised.
 */
package io.eventbus.loadtest.system;

/**
 * The trees along which events are passed on from bus to bus: which bus each topic and producer
 * reaches by which lane, and what this bus passes on of what it gets.
 */
package io.eventbus.server.federation.tree;

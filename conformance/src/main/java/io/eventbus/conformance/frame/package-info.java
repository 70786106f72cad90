/**
 * Frames as JSON and as bytes, both by the schemas of the protocol, in any legal and many illegal
 * forms.
 */
package io.eventbus.conformance.frame;

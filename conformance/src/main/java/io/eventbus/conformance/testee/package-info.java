/** The client library under test, as lines of JSON; README.md of this module says which. */
package io.eventbus.conformance.testee;

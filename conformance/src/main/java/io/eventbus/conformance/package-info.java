/** The command: runs vectors and scenarios with a client library under test. */
package io.eventbus.conformance;

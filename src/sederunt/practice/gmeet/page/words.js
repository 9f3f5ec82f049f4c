// Every text the practice site shows, in one table.
"use strict";

(() => {
  /** @type {MeetPractice} */
  const practice = window.practice;

  /** @type {Record<string, { heading: string, more?: string[], buttons?: string[] }>} */
  const ENDS = {
    denied: {
      heading: "Someone in the call denied your request to join",
      buttons: ["Ask to join again", "Return to home screen"],
    },
    nobody_answered: {
      heading: "No one responded to your request to join the call",
      buttons: ["Ask to join again", "Return to home screen"],
    },
    blocked: {
      heading: "You can't join this video call",
      more: ["No one can join a meeting unless invited or admitted by the host"],
      buttons: ["Return to home screen"],
    },
    // Nobody has seen the copy of these two: the heading of a hard block, and what it is in a sentence below.
    locked: { heading: "You can't join this video call", more: ["The host has locked this meeting"], buttons: ["Return to home screen"] },
    unexplained: { heading: "You can't join this video call", buttons: ["Return to home screen"] },
    full: { heading: "You can't join this meeting", more: ["The meeting is full"], buttons: ["Return to home screen"] },
    problem: { heading: "There is a problem connecting to this video call", buttons: ["Return to home screen"] },
    invalid: {
      heading: "Check your meeting code",
      more: ["Make sure you entered the correct meeting code in the URL", "The meeting code you entered doesn't work"],
      buttons: ["Return to home screen"],
    },
    already_over: { heading: "This meeting has ended", buttons: ["Return to home screen"] },
    stale: { heading: "Your sign-in credentials might have changed", buttons: ["Sign in again"] },
    removed: { heading: "You've been removed from the meeting", buttons: ["Return to home screen"] },
    removed_for_good: {
      heading: "Removed from meeting",
      more: ["You can't rejoin this meeting"],
      buttons: ["Return to home screen"],
    },
    barred: { heading: "You can't rejoin this meeting", buttons: ["Return to home screen"] },
    over: { heading: "Your host ended the meeting for everyone", buttons: ["Return to home screen"] },
    left: { heading: "You left the meeting", buttons: ["Rejoin", "Return to home screen"] },
  };

  const LOBBY = {
    lobby: ["Asking to be let in", "You'll join the call when someone lets you in"],
    waiting_for_host: ["Waiting for the host to join", "You'll join the call when the host arrives"],
    host_elsewhere: ["Waiting for the host to join"],
  };

  /** @type {Record<string, { text: string, button: string }>} */
  const NOTICES = {
    recording: { text: "This video call is being recorded", button: "Join now" },
    transcription: { text: "This video call is being transcribed", button: "Join now" },
    gemini: { text: "Gemini is taking notes for this call", button: "Join now" },
    privacy: { text: "Others may see your video differently", button: "Got it" },
    sign_in: { text: "Sign in with your Google account to keep your preferences", button: "Got it" },
    alone: { text: "Are you still there? You're the only one here", button: "Stay in the call" },
  };

  let curly = false;

  /** The site uses both apostrophes. @param {string} text */
  function say(text) {
    return curly ? text.replaceAll("'", "’") : text;
  }

  practice.words = { ENDS, LOBBY, NOTICES, say, useCurly: (/** @type {boolean} */ yes) => (curly = yes) };
})();
